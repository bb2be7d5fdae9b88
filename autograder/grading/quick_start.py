"""Import this first: it saves a second at every start.

nbformat's validator, jsonschema, compiles a grammar of internationalised addresses when it is
imported, where the package `rfc3987_syntax` is installed; notebooks hold no such addresses.
"""

import sys

# None is documented to prevent an import; typeshed knows only modules.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
