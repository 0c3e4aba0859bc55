"""What all mappings of the policy file have in common."""

from pydantic import BaseModel, ConfigDict, ValidationInfo, model_validator


class Keys(BaseModel):
    """A mapping of the policy file: unknown keys are refused, nothing is converted silently."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, use_attribute_docstrings=True)

    @model_validator(mode="before")
    @classmethod
    def _remember(cls, data: object, info: ValidationInfo) -> object:
        # so that the error for an unknown key can name the nearest key of this very mapping
        if isinstance(info.context, dict):
            info.context[id(data)] = cls
        return data
