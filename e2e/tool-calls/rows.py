"""Two MCP servers of Python's standard library alone; the first argument says which: ``orders`` or ``customers``."""

import json
import sys

TEXT = {"type": "string"}
CITIES = ("Aachen", "Bern", "Cork", "Delft", "Espoo")
CUSTOMERS = [
    {
        "id": f"c{number:03d}",
        "name": f"Customer {number}",
        "city": CITIES[number % 5],
        "tier": ("gold", "silver")[number % 2],
        "mail": f"customer{number}@example.com",
    }
    for number in range(60)
]
ORDERS = [
    {
        "id": f"o{number:04d}",
        "customer": f"c{number * 7 % 60:03d}",
        "cents": 1000 + number * 37 % 5000,
        "status": "paid" if number % 3 else "open",
        "placed": f"2026-{1 + number % 12:02d}-{1 + number % 28:02d}",
    }
    for number in range(200)
]
TOOLS = {
    "orders": {
        "name": "list_orders",
        "description": "Lists all orders: id, customer, cents, status (open or paid), placed.",
        "inputSchema": {"type": "object", "properties": {}},
    },
    "customers": {
        "name": "get_customer",
        "description": "One customer by id: name, city, tier, mail.",
        "inputSchema": {"type": "object", "properties": {"id": TEXT}, "required": ["id"]},
    },
}
ROLE = sys.argv[1]


def found(arguments):
    if ROLE == "orders":
        return {"orders": ORDERS}
    return next(customer for customer in CUSTOMERS if customer["id"] == arguments["id"])


def result(method, given):
    if method == "initialize":
        info = {"name": ROLE, "version": "1"}
        return {"protocolVersion": given["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": info}
    if method == "tools/list":
        return {"tools": [TOOLS[ROLE]]}
    if method == "tools/call":
        return {"content": [{"type": "text", "text": json.dumps(found(given.get("arguments") or {}))}]}
    return {} if method == "ping" else None


for line in sys.stdin:
    asked = json.loads(line)
    if "id" in asked and "method" in asked:
        answered = result(asked["method"], asked.get("params") or {})
        unknown = {"error": {"code": -32601, "message": "Method not found"}}
        answer = unknown if answered is None else {"result": answered}
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], **answer}), flush=True)
