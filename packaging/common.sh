# Shared by packaging/run, packaging/test and .ci/run: the virtual environment.
# The caller sets `root` to the checkout.

say() { printf '%s\n' "$*" >&2; }

# Set `python` to the first interpreter that is new enough and can make a virtual environment.
# Each candidate is run, because a name on the PATH may be an empty shell; -I keeps the caller's
# folder and settings out of it.
find_python() {
    local candidate without_venv=
    for candidate in ${PYTHON:+"$PYTHON"} python3 python3.13 python3.12 python3.11 python3.14; do
        "$candidate" -I -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || continue
        if "$candidate" -I -c 'import venv, ensurepip' 2>/dev/null; then
            python=$candidate
            return
        fi
        without_venv=$candidate
    done
    if [[ $without_venv ]]; then
        say "$without_venv cannot make a virtual environment: install its venv module" \
            "(Debian, Ubuntu: sudo apt-get install python3-venv)."
    else
        say "AUC Studio needs Python 3.11 or newer and found none" \
            "(Debian, Ubuntu: sudo apt-get install python3 python3-venv)."
    fi
    return 1
}

# What an installation depends on. The editable install points at `root`, so a moved checkout counts.
fingerprint() {
    "$venv/bin/python" -I -c 'import sys; print(sys.version)' &&
        printf '%s\n' "$root" && cat "$root/pyproject.toml"
}

# Install the project with an extra ('' or 'test') into `venv`, unless that is done already.
# Everything it prints goes to standard error: standard output belongs to the program.
prepare() {
    local extra=$1
    if [[ -w $root ]]; then
        venv=$root/.venv
    else
        venv=${XDG_CACHE_HOME:-$HOME/.cache}/aucstudio/venv-$(cksum <<<"$root" | cut -d' ' -f1)
    fi
    local stamp=$venv/aucstudio-installed${extra:+-$extra}
    if fingerprint 2>/dev/null | cmp -s - "$stamp"; then
        return
    fi
    if ! "$venv/bin/python" -I -c 'import pip, sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
        find_python
        "$python" -I -m venv --clear "$venv" >&2
    fi
    say "Installing AUC Studio into $venv (the first time downloads about 300 MB)."
    local quiet=--quiet
    [[ ! -t 2 ]] || quiet=
    if ! "$venv/bin/python" -I -m pip install $quiet --disable-pip-version-check \
        --editable "$root${extra:+[$extra]}" >&2; then
        say "The installation did not finish; see pip's message above." \
            "It needs a network connection the first time."
        return 1
    fi
    fingerprint >"$stamp"
}
