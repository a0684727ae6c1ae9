"""An application in Python: an order changes and its webhook is stored, in one transaction of psycopg."""
import sys

import psycopg

url, order, fate = sys.argv[1:]
with psycopg.connect(url) as connection:
    connection.execute("insert into application values (%s)", (order,))
    made = connection.execute(
        "select adbind_enqueue(%s, 'working', %s::json, message => 'from Python', dedup_key => 'once')",
        (order, '{"percentage": 40}'),
    ).fetchone()
    again = connection.execute(
        "select adbind_enqueue(%s, 'working', %s::json, message => 'from Python', dedup_key => 'once')",
        (order, '{ "percentage": 40 }'),
    ).fetchone()
    assert made == again, (made, again)
    if fate == "undone":
        connection.rollback()
