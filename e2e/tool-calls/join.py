"""Joins the data of two servers; what stands below this line is what a model writes."""

from collections import Counter

import mcptools

owed, names = Counter(), {}
for order in mcptools.call("orders", "list_orders")["orders"]:
    if order["status"] == "open":
        owed[order["customer"]] += order["cents"]
for each in owed:
    customer = mcptools.call("customers", "get_customer", {"id": each})
    names[each] = f"{customer['name']}, {customer['city']}"
for each, cents in owed.most_common(5):
    print(f"{names[each]}: {cents / 100:.2f}")
