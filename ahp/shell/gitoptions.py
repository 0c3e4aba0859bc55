"""The options of git's commands, from `git COMMAND --git-completion-helper-all` (2.39) and the manual."""

from ahp.shell.options import Spec


def _spec(longs: str, shorts: str, valued: str = "", glued: str = "") -> Spec:
    """Long names without hyphens, negations understood; shorts as `n=no-verify`, a letter without a name alone."""
    names = longs.split()
    negated = [f"no-{name.rstrip('=')}" for name in names if not name.startswith("no-")]
    pairs = (item.partition("=") for item in shorts.split())
    letters = {letter: f"--{name}" if name else f"-{letter}" for letter, _, name in pairs}
    return Spec(tuple(f"--{name}" for name in dict.fromkeys((*names, *negated))), letters, valued, glued)


SPECS = {
    "commit": _spec(
        "ahead-behind all allow-empty allow-empty-message amend author= branch cleanup= date= dry-run edit file= "
        "fixup= gpg-sign include interactive long message= null only patch pathspec-file-nul pathspec-from-file= "
        "porcelain post-rewrite quiet reedit-message= reset-author reuse-message= short signoff squash= status "
        "template= trailer= untracked-files verbose verify",
        "n=no-verify a=all v=verbose q=quiet s=signoff e=edit i=include o=only p=patch z=null m=message F=file "
        "C=reuse-message c=reedit-message t=template S=gpg-sign u=untracked-files",
        "mFCct",
        "Su",
    ),
    "push": _spec(
        "all atomic delete dry-run exec= follow-tags force force-if-includes force-with-lease ipv4 ipv6 mirror "
        "porcelain progress prune push-option= quiet receive-pack= recurse-submodules= repo= set-upstream signed "
        "tags thin verbose verify",
        "f=force n=dry-run d=delete u=set-upstream q=quiet v=verbose o=push-option 4=ipv4 6=ipv6",
        "o",
    ),
    "merge": _spec(
        "abort allow-unrelated-histories autostash cleanup= commit continue edit ff ff-only file gpg-sign "
        "into-name= log message= overwrite-ignore progress quiet quit rerere-autoupdate signoff squash stat "
        "strategy-option= strategy= summary verbose verify verify-signatures",
        "n=no-stat m=message s=strategy X=strategy-option S=gpg-sign e=edit q=quiet v=verbose F=file",
        "msXF",
        "S",
    ),
    "pull": _spec(
        "all allow-unrelated-histories append autostash cleanup= commit deepen= depth= dry-run edit ff ff-only "
        "force gpg-sign ipv4 ipv6 jobs keep log negotiation-tip= progress prune quiet rebase recurse-submodules "
        "refmap= server-option= set-upstream shallow-exclude= shallow-since= show-forced-updates signoff squash "
        "stat strategy-option= strategy= summary tags unshallow update-shallow upload-pack= verbose verify "
        "verify-signatures",
        "n=no-stat r=rebase s=strategy X=strategy-option f=force q=quiet v=verbose S=gpg-sign t=tags p=prune j=jobs",
        "sXj",
        "rS",
    ),
    "rebase": _spec(
        "abort allow-empty-message apply autosquash autostash committer-date-is-author-date continue edit-todo "
        "empty= exec= ff force-rebase fork-point gpg-sign ignore-date ignore-whitespace interactive keep-base "
        "keep-empty merge onto= preserve-merges quiet quit reapply-cherry-picks rebase-merges rerere-autoupdate "
        "reschedule-failed-exec reset-author-date root show-current-patch signoff skip stat strategy-option= "
        "strategy= update-refs verbose verify whitespace=",
        "n=no-stat i=interactive x=exec s=strategy X=strategy-option f=force-rebase r=rebase-merges q=quiet "
        "v=verbose S=gpg-sign C",
        "xsXC",
        "rS",
    ),
    "am": _spec(
        "3way abort allow-empty binary committer-date-is-author-date continue directory= empty= exclude= "
        "gpg-sign ignore-date ignore-space-change ignore-whitespace include= interactive keep keep-cr "
        "keep-non-patch message-id patch-format= quiet quit quoted-cr= rebasing reject rerere-autoupdate "
        "resolved resolvemsg= scissors show-current-patch signoff skip utf8 whitespace=",
        "n=no-verify 3=3way i=interactive s=signoff k=keep q=quiet b=keep-non-patch S=gpg-sign C p",
        "Cp",
        "S",
    ),
    "cherry-pick": _spec(
        "abort allow-empty allow-empty-message cleanup= commit continue edit ff gpg-sign keep-redundant-commits "
        "mainline= quit rerere-autoupdate signoff skip strategy-option= strategy=",
        "n=no-commit e=edit x m=mainline s=signoff X=strategy-option S=gpg-sign",
        "mX",
        "S",
    ),
    "revert": _spec(
        "abort cleanup= commit continue edit gpg-sign mainline= quit reference rerere-autoupdate signoff skip "
        "strategy-option= strategy=",
        "n=no-commit e=edit m=mainline s=signoff X=strategy-option S=gpg-sign",
        "mX",
        "S",
    ),
    "reset": _spec(
        "hard intent-to-add keep merge mixed patch pathspec-file-nul pathspec-from-file= quiet "
        "recurse-submodules refresh soft",
        "q=quiet N=intent-to-add p=patch",
    ),
    "checkout": _spec(
        "conflict= detach force guess ignore-other-worktrees ignore-skip-worktree-bits merge orphan= ours "
        "overlay overwrite-ignore patch pathspec-file-nul pathspec-from-file= progress quiet recurse-submodules "
        "theirs track",
        "b B f=force q=quiet d=detach m=merge p=patch t=track l",
        "bB",
        "t",
    ),
    "switch": _spec(
        "conflict= create= detach discard-changes force force-create= guess ignore-other-worktrees merge orphan= "
        "overwrite-ignore progress quiet recurse-submodules track",
        "c=create C=force-create f=force q=quiet d=detach m=merge t=track",
        "cC",
        "t",
    ),
    "restore": _spec(
        "conflict= ignore-skip-worktree-bits ignore-unmerged merge ours overlay patch pathspec-file-nul "
        "pathspec-from-file= progress quiet recurse-submodules source= staged theirs worktree",
        "s=source S=staged W=worktree q=quiet p=patch m=merge",
        "s",
    ),
    "branch": _spec(
        "abbrev all color column contains copy create-reflog delete edit-description force format= ignore-case "
        "list merged move points-at= quiet recurse-submodules remotes set-upstream set-upstream-to= show-current "
        "sort= track unset-upstream verbose with without",
        "d=delete D f=force m=move M c=copy C u=set-upstream-to a=all r=remotes l=list v=verbose q=quiet t=track "
        "i=ignore-case",
        "u",
        "t",
    ),
    "tag": _spec(
        "annotate cleanup= color column contains create-reflog delete edit file= force format= ignore-case list "
        "local-user= merged message= points-at sign sort= verify with without",
        "d=delete f=force a=annotate s=sign m=message F=file u=local-user l=list v=verify n e=edit",
        "mFu",
        "n",
    ),
    "add": _spec(
        "all chmod= dry-run edit force ignore-errors ignore-missing ignore-removal intent-to-add interactive "
        "patch pathspec-file-nul pathspec-from-file= refresh renormalize sparse update verbose "
        "warn-embedded-repo",
        "n=dry-run v=verbose f=force i=interactive p=patch e=edit u=update A=all N=intent-to-add",
    ),
    "rm": _spec(
        "cached dry-run force ignore-unmatch pathspec-file-nul pathspec-from-file= quiet sparse",
        "n=dry-run f=force r q=quiet",
    ),
    "clean": _spec(
        "dry-run exclude= force interactive quiet",
        "n=dry-run f=force d x X i=interactive q=quiet e=exclude",
        "e",
    ),
    "clone": _spec(
        "also-filter-submodules bare branch= bundle-uri= checkout config= depth= dissociate filter= hardlinks "
        "ipv4 ipv6 jobs= local mirror naked origin= progress quiet recurse-submodules recursive "
        "reference-if-able= reference= reject-shallow remote-submodules separate-git-dir= server-option= "
        "shallow-exclude= shallow-since= shallow-submodules shared single-branch sparse tags template= "
        "upload-pack= verbose",
        "n=no-checkout b=branch o=origin c=config j=jobs u=upload-pack l=local s=shared q=quiet v=verbose",
        "bocju",
    ),
    "fetch": _spec(
        "all append atomic auto-gc auto-maintenance deepen= depth= dry-run filter= force ipv4 ipv6 jobs= keep "
        "multiple negotiate-only negotiation-tip= prefetch progress prune prune-tags quiet recurse-submodules "
        "recurse-submodules-default= refetch refmap= server-option= set-upstream shallow-exclude= shallow-since= "
        "show-forced-updates stdin submodule-prefix= tags unshallow update-head-ok update-shallow upload-pack= "
        "verbose write-commit-graph write-fetch-head",
        "n=no-tags f=force a=append p=prune P=prune-tags t=tags k=keep u=update-head-ok j=jobs q=quiet v=verbose "
        "o=server-option m=multiple",
        "jo",
    ),
    "update-ref": _spec(
        "create-reflog deref stdin",
        "d z m",
        "m",
    ),
    "config": _spec(
        "add blob= bool bool-or-int bool-or-str default= edit expiry-date file= fixed-value get get-all "
        "get-color get-colorbool get-regexp get-urlmatch global includes int list local name-only null path "
        "remove-section rename-section replace-all show-origin show-scope system type= unset unset-all worktree",
        "f=file l=list e=edit z=null",
        "f",
    ),
}
