#!/bin/sh
# Monoco behind the gate: put here by `ahp install monoco`, taken away by `ahp uninstall monoco`.
if [ -x @PYTHON@ ] && [ -f @PACKAGE@ ]; then
  exec @PYTHON@ -I -c @START@ hook monoco exec @MONOCO@ "$@"
fi
if [ -n @PROGRAM@ ] && @PROGRAM@ --version >/dev/null 2>&1 </dev/null; then
  echo "ahp: it was installed anew since this shim was; "@PROGRAM@" judges (ahp install monoco renews it)" >&2
  exec @PROGRAM@ hook monoco exec @MONOCO@ "$@"
fi
if command -v ahp >/dev/null 2>&1; then
  echo "ahp: the Python that ahp was installed with is gone; this is the ahp on PATH (ahp install monoco renews it)" >&2
  exec ahp hook monoco exec @MONOCO@ "$@"
fi
case " $* " in
*" start "* | *" submit "* | *" close "* | *" update "*)
  echo "ahp: nobody can judge this: the Python that ahp was installed with is gone, and no ahp is on PATH" >&2
  echo "ahp: fix:" @INSTALL@ "&& ahp install monoco; or call Monoco itself:" @MONOCO@ >&2
  exit 2
  ;;
esac
exec @MONOCO@ "$@"
