"""How much of a server's tools the generator takes; what is beyond is left out, or has parameters of any kind."""

REQUEST_BYTES = 64 * 1024 * 1024
TOOLS = 512
TOOL_NAME_CHARS = 256
MODULE_NAME_CHARS = 80

SCHEMA_CHARS = 128 * 1024
SCHEMA_PARTS = 1000
SCHEMA_DEPTH = 32
PROPERTY_NAME_CHARS = 200
CHOICES = 500
ALTERNATIVES = 64
PATTERN_CHARS = 500
VALUE_CHARS = 1000

DESCRIPTION_CHARS = 8000
FIELD_DESCRIPTION_CHARS = 1000
FIRST_LINE_CHARS = 200
NOTES = 20

MODULE_CHARS = 512 * 1024
FOLDER_CHARS = 32 * 1024 * 1024
# Declarations for TypeScript: of one tool, of a server, and the time that reading its schemas may take.
TYPES_CHARS = 64 * 1024
ALL_TYPES_CHARS = 8 * 1024 * 1024
TYPES_S = 10.0

# One tool, all tools together, and how often the process that reads schemas may end before the rest is left as it is.
TOOL_S = 6.0
TOTAL_S = 40.0
ENDS = 4
MEMORY_BYTES = 512 * 1024 * 1024
