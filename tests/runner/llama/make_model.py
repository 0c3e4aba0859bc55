"""Writes a llama model of a few megabytes whose replies are known beforehand, for a real llama.cpp server.

    make_model.py REPLIES.json MODEL.gguf

The weights are random, and the vocabulary is bytes, so a prompt has as many tokens as bytes. Each reply of the file
(name: text) is a chain of tokens of its own: the chat template ends the prompt with a control token, whose embedding
points at the first piece of the reply, each piece points at the next one and the last one at the end of the sequence.
So the server samples exactly that text, under a grammar too where the text obeys it. A name that is not in the file
gives noise.

The template takes strict alternation of user and assistant after one system message, like Mistral's and Gemma's, and
refuses anything else. Which reply comes:

* `[[reply:NAME]]` in the last user message, where that is not the first one (a tool's result, say): NAME.
* Else the first user message says it by the scene that the runner's prompts begin there: `[[plan:A,B]]` when a plan is
  asked for, `[[replan:A,B]]` when it has to change, `[[answer:A,B]]` for the final answer, and `[[script:A,B]]` of the
  step's description or of a task without plan. A comes first, B after the first reply, the last one from then on.
"""

import json
import sys

import gguf
import numpy as np

NOISE, LAYERS, HEADS, FEED_FORWARD, CONTEXT = 32, 2, 4, 128, 65536
PIECE = 24  # bytes of a token
GAIN = 400.0  # logit of a chained token, far above the noise

TEMPLATE = r"""
{%- if messages[0]['role'] == 'system' -%}
{%- set system_message = messages[0]['content'] -%}{%- set talk = messages[1:] -%}
{%- else -%}{%- set system_message = '' -%}{%- set talk = messages -%}{%- endif -%}
{{- bos_token -}}
{%- for message in talk -%}
{%- if (message['role'] == 'user') != (loop.index0 % 2 == 0) -%}
{{- raise_exception('Conversation roles must alternate user/assistant/user/assistant/...') -}}
{%- endif -%}
{%- if message['role'] == 'user' -%}
{{- '[INST] ' -}}
{%- if loop.first and system_message -%}{{- system_message + '\n\n' -}}{%- endif -%}
{{- message['content'] + ' [/INST]' -}}
{%- elif message['role'] == 'assistant' -%}{{- message['content'] + eos_token -}}
{%- else -%}{{- raise_exception('Only user and assistant roles are supported!') -}}{%- endif -%}
{%- endfor -%}
{%- if add_generation_prompt and talk -%}
{%- set head = talk[0]['content'] -%}{%- set last = talk[-1]['content'] -%}
{%- set ns = namespace(n=0) -%}
{%- for message in talk -%}
{%- if message['role'] == 'assistant' -%}{%- set ns.n = ns.n + 1 -%}{%- endif -%}
{%- endfor -%}
{%- if 'Now answer the task for the person' in head -%}{%- set key = '[[answer:' -%}
{%- elif 'The plan has to change: ' in head -%}{%- set key = '[[replan:' -%}
{%- elif 'First write the plan' in head -%}{%- set key = '[[plan:' -%}
{%- else -%}{%- set key = '[[script:' -%}{%- endif -%}
{%- if talk | length > 1 and '[[reply:' in last -%}{{- '<|reply_' + last.split('[[reply:')[-1].split(']]')[0] + '|>' -}}
{%- elif key in head -%}
{%- set names = head.split(key)[1].split(']]')[0].split(',') -%}
{{- '<|reply_' + (names[ns.n] if ns.n < names | length else names[-1]) + '|>' -}}
{%- endif -%}
{%- endif -%}
"""


def pieces(text: str, used: set[str]) -> list[str]:
    """The text in pieces of at most PIECE bytes, none of them in `used`: a vocabulary has no duplicates."""
    found: list[str] = []
    sizes: list[int] = []
    at, size = 0, PIECE
    while at < len(text):
        head = text[at : at + size] if size else ""
        if size and (head in used or len(head.replace(" ", "\u2581").encode()) > PIECE):
            size -= 1
        elif size:
            used.add(head)
            found.append(head)
            sizes.append(size)
            at, size = at + size, PIECE
        else:  # no piece is left that begins here: the one before has to be shorter
            if not found:
                raise SystemExit(f"no pieces for {text[:40]!r}")
            used.discard(found.pop())
            size = sizes.pop()
            at -= size
            size -= 1
    return found


def main() -> None:
    with open(sys.argv[1], encoding="utf-8") as file:
        replies: dict[str, str] = json.load(file)
    rng = np.random.default_rng(7)
    kinds = gguf.TokenType
    tokens = [b"<unk>", b"<s>", b"</s>", *(f"<0x{byte:02X}>".encode() for byte in range(256))]
    types = [kinds.UNKNOWN, kinds.CONTROL, kinds.CONTROL, *[kinds.BYTE] * 256]
    chains: list[list[int]] = []
    used: set[str] = set()
    for name, text in replies.items():
        chain = [len(tokens)]
        tokens.append(f"<|reply_{name}|>".encode())
        types.append(kinds.CONTROL)
        for piece in pieces(text, used):
            chain.append(len(tokens))
            # The tokenizer never makes it: pieces come only of merges of shorter ones, and there are none.
            tokens.append(piece.replace(" ", "\u2581").encode())
            types.append(kinds.NORMAL)
        chains.append(chain)
    links = sum(map(len, chains))
    width = -(-(links + 1 + NOISE) // 64) * 64
    wired, bias_dim = width - NOISE, links

    embedding = np.zeros((len(tokens), width), np.float32)
    output = np.zeros((len(tokens), width), np.float32)
    embedding[:, wired:] = rng.normal(0, 1, (len(tokens), NOISE))
    output[:, wired:] = rng.normal(0, 0.35, (len(tokens), NOISE))
    embedding[:, bias_dim] = 4.0
    bias = np.zeros(len(tokens), np.float32)
    bias[3 + 128 : 3 + 256] = -50.0  # no broken UTF-8 in noise
    bias[2] = -3.0  # noise is long
    bias[259:] = -50.0  # pieces and replies never come by chance
    output[:, bias_dim] = bias
    output[259:, wired:] = 0
    link = 0
    for chain in chains:
        for here, after in zip(chain, [*chain[1:], 2], strict=True):
            embedding[here] = 0
            embedding[here, link] = 8.0  # about the root of the width behind RMSNorm
            output[after, link] = GAIN / np.sqrt(width)
            link += 1

    writer = gguf.GGUFWriter(sys.argv[2], "llama")
    writer.add_name("scripted")
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(width)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(FEED_FORWARD)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_rope_dimension_count(width // HEADS)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_vocab_size(len(tokens))
    writer.add_file_type(gguf.LlamaFileType.ALL_F32)
    writer.add_tokenizer_model("llama")
    writer.add_token_list(tokens)
    writer.add_token_scores([0.0] * 259 + [-1e3] * (len(tokens) - 259))
    writer.add_token_types(types)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)
    writer.add_add_bos_token(False)
    writer.add_add_eos_token(False)
    writer.add_add_space_prefix(False)
    writer.add_chat_template(TEMPLATE.strip())
    writer.add_tensor("token_embd.weight", embedding)
    writer.add_tensor("output_norm.weight", np.ones(width, np.float32))
    writer.add_tensor("output.weight", output)
    random_half = np.zeros((width, 1), np.float32)
    random_half[wired:] = 1.0  # layers write there only, so the chains alone decide

    def matrix(rows: int, columns: int, scale: float) -> np.ndarray:
        return rng.normal(0, scale, (rows, columns)).astype(np.float32)

    for block in range(LAYERS):
        writer.add_tensor(f"blk.{block}.attn_norm.weight", np.ones(width, np.float32))
        for part in ("attn_q", "attn_k", "attn_v"):
            writer.add_tensor(f"blk.{block}.{part}.weight", matrix(width, width, 0.1))
        writer.add_tensor(f"blk.{block}.attn_output.weight", matrix(width, width, 0.02) * random_half)
        writer.add_tensor(f"blk.{block}.ffn_norm.weight", np.ones(width, np.float32))
        writer.add_tensor(f"blk.{block}.ffn_gate.weight", matrix(FEED_FORWARD, width, 0.1))
        writer.add_tensor(f"blk.{block}.ffn_up.weight", matrix(FEED_FORWARD, width, 0.1))
        writer.add_tensor(f"blk.{block}.ffn_down.weight", matrix(width, FEED_FORWARD, 0.02) * random_half)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


if __name__ == "__main__":
    main()
