"""Import this module before nbformat to save a second at every start.

If the package `rfc3987_syntax` is installed, nbformat's validator, jsonschema, compiles a grammar of
internationalised addresses when it is imported. Notebooks do not contain such addresses.
"""

import sys

# The documentation says that None prevents an import; typeshed allows only modules.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
