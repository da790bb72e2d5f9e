"""The scripts by which bash, zsh and fish ask `kwire` for completions, and where they go."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from kwire.cli.errors import CommandFailed

BASH = """\
_kwire() {
    local value description paths=
    COMPREPLY=()
    while IFS=$'\\t' read -r value description; do
        case $value in
            :*) paths=${value#:} ;;
            *)
                printf -v value %q "$value"
                COMPREPLY+=("$value")
                [[ $value == *= ]] && compopt -o nospace
                ;;
        esac
    done < <(_KWIRE_COMPLETE=bash _KWIRE_LINE=${COMP_LINE:0:COMP_POINT} \\
        _KWIRE_BREAKS=$COMP_WORDBREAKS "$1" </dev/null 2>/dev/null)
    case $paths in
        files) mapfile -t COMPREPLY < <(compgen -f -- "$2") ;;
        folders) mapfile -t COMPREPLY < <(compgen -d -- "$2") ;;
        captures)
            mapfile -t COMPREPLY < <(compgen -f -X '!*.avro' -- "$2"; compgen -d -- "$2")
            ;;
    esac
    [[ -n $paths ]] && compopt -o filenames
    return 0
}
complete -F _kwire kwire
"""

ZSH = """\
#compdef kwire
_kwire() {
    local value description paths=
    local -a values open
    while IFS=$'\\t' read -r value description; do
        case $value in
            :*) paths=${value#:} ;;
            *=) open+=("${value//:/\\\\:}${description:+:$description}") ;;
            *) values+=("${value//:/\\\\:}${description:+:$description}") ;;
        esac
    done < <(_KWIRE_COMPLETE=zsh "${words[1]}" "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" \\
        </dev/null 2>/dev/null)
    [[ -n $paths && $PREFIX == --*=* ]] && compset -P '*='
    case $paths in
        files) _files ;;
        folders) _files -/ ;;
        captures) _files -g '*.avro' ;;
    esac
    (( $#open )) && _describe kwire open -S ''
    (( $#values )) && _describe kwire values
    return 0
}
if [[ $funcstack[1] == _kwire ]]; then
    _kwire "$@"
else
    compdef _kwire kwire
fi
"""

FISH = """\
function __kwire_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l kwire $words[1]
    set -e words[1]
    for line in (env _KWIRE_COMPLETE=fish $kwire $words "$current" </dev/null 2>/dev/null)
        switch $line
            case ':files*'
                __fish_complete_path (string replace -r '^--[^=]*=' '' -- $current)
            case ':folders*'
                __fish_complete_directories (string replace -r '^--[^=]*=' '' -- $current)
            case ':captures*'
                __fish_complete_suffix (string replace -r '^--[^=]*=' '' -- $current) .avro
            case '*'
                echo $line
        end
    end
end
complete --command kwire --no-files --arguments '(__kwire_complete)'
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletionScript:
    """The script of a shell.

    path: of the script when it is installed. startup_file: the shell's own, which gets the line
    that reads the script; None for a shell that finds the path by itself.
    """

    text: str
    path: Callable[[], Path]
    startup_file: Callable[[], Path] | None = None
    line: str = ""


def _folder(variable: str, default: str) -> Path:
    return Path(os.environ.get(variable) or Path.home() / default)


SCRIPTS = {
    "bash": CompletionScript(
        text=BASH,
        path=lambda: _folder("XDG_DATA_HOME", ".local/share") / "kwire/completion.bash",
        startup_file=lambda: Path.home() / ".bashrc",
        line='source "{path}"',
    ),
    "zsh": CompletionScript(
        text=ZSH,
        path=lambda: _folder("XDG_DATA_HOME", ".local/share") / "kwire/completion.zsh",
        startup_file=lambda: _folder("ZDOTDIR", "") / ".zshrc",
        line="(( $+functions[compdef] )) || {{ autoload -Uz compinit && compinit; }};"
        ' source "{path}"',
    ),
    "fish": CompletionScript(
        text=FISH,
        path=lambda: _folder("XDG_CONFIG_HOME", ".config") / "fish/completions/kwire.fish",
    ),
}
"""The script of each shell by the shell's name."""


def script_of(name: str) -> CompletionScript:
    """Return the script of a shell. Raises CommandFailed for another one."""
    if name not in SCRIPTS:
        raise CommandFailed(
            f"there is no completion for {name}: type it in one of {', '.join(SCRIPTS)}"
        )
    return SCRIPTS[name]


def install(script: CompletionScript) -> str:
    """Write the script where its shell finds it; return a sentence that says where."""
    path = script.path()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(script.text, encoding="utf-8")
    if script.startup_file is None:
        return f"Completion is in {path}. New shells have it."
    startup_file, line = script.startup_file(), script.line.format(path=path)
    text = startup_file.read_text(encoding="utf-8") if startup_file.exists() else ""
    if line not in text.splitlines():
        with startup_file.open("a", encoding="utf-8") as file:
            file.write(f"{'' if text.endswith(chr(10)) or not text else chr(10)}{line}\n")
    return f"Completion is in {path}, and {startup_file} reads it. New shells have it."


def this_shell() -> str:
    """Return the name of the program that runs this one, else of the user's shell."""
    parent = Path(f"/proc/{os.getppid()}/comm")
    name = parent.read_text().strip() if parent.exists() else ""
    return name if name in SCRIPTS else Path(os.environ.get("SHELL", "an unknown shell")).name
