"""What the hub does, one verb a file: plain functions over a transaction, without threads, clocks or I/O of their own.

How to call them, in the hub as in a simulation under virtual time:

    store = Store.in_memory()
    rules = Rules(catalogue=Catalogue({**KINDS, **WORKLOAD_KINDS}), hub_started_us=now_us)
    admin = Principal("admin", Role.ADMIN)
    operators = TokenRequest(name="iad-1-operator", role=Role.OPERATOR, cluster="iad-1")
    store.write(lambda tx: create_token(tx, admin, operators, now_us))        # adds the cluster, too
    grant = store.write(lambda tx: open_session(tx, "iad-1", SessionRequest(...), rules, now_us))
    store.write(lambda tx: inventory(tx, "iad-1", InventoryRequest(...), rules, now_us))
    created = store.write(lambda tx: submit(tx, admin, OperationRequest(...), key, rules, now_us))
    work = store.write(lambda tx: sync(tx, "iad-1", SyncRequest(...), now_us))
    answer = store.write(lambda tx: report(tx, "iad-1", ReportRequest(...), now_us))
    store.write(lambda tx: sweep(tx, rules, now_us))      # once a second
    page = store.read(lambda connection: list_operations(connection, OperationFilters(), PageRequest(), rules))

They refuse by raising `Problem`; then the transaction is taken back. `open_session` alone returns its refusal, since
the event that it writes has to stay.
"""
