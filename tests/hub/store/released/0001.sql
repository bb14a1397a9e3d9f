UPDATE feed SET rev = 11, incarnation = '77438761b584d70c';
INSERT INTO tokens (id, sha256, principal, role, cluster, created_by, created_us, expires_us, revoked_us)
VALUES ('tok_01M7Q5CQG0WGB28ZS2TQ4T5K1A', 'e8b025612489b0d54941e52f98c69a5da2163cd4ad316d266f78bf116a2d2741', 'admin', 'admin', NULL, NULL, 1795000000000000, NULL, NULL);
INSERT INTO idempotency (principal, key, fingerprint, op_id, expires_us)
VALUES ('admin', 'k', '6fa32979b95ef35af4ccee76875b716a8e604fdb2d4a3f5197bed5fb1423e765', 'op_01M7Q5CQG0V3RS3DTR98H6BCFN', 1795086400000000);
INSERT INTO operations (id, type, kind_version, phase, cluster, target, target_uid, hold, params, reason, created_by, created_us, started_us, finished_us, deadline_us, cancel_by, cancel_us, final_progress, result, rev)
VALUES ('op_01M7Q5CQG0V3RS3DTR98H6BCFN', 'node.drain', 1, 'succeeded', 'iad-1', 'iad-1-n01', 'uid-iad-1-n01', 'node:iad-1:uid-iad-1-n01', '{"deadline_s":3600,"grace_period_s":null,"skip_fit_check":false,"on_failure":"keep"}', NULL, 'admin', 1795000000000000, 1795000000000000, 1795000000000000, 1795003600000000, NULL, NULL, NULL, '{"code":"done","message":"it succeeded","attempts":1,"duration":"0s","details":{}}', 8);
INSERT INTO operations (id, type, kind_version, phase, cluster, target, target_uid, hold, params, reason, created_by, created_us, started_us, finished_us, deadline_us, cancel_by, cancel_us, final_progress, result, rev)
VALUES ('op_01M7Q5CQG0V3RS3DTR98H6BCFP', 'node.drain', 1, 'running', 'iad-1', 'iad-1-n02', 'uid-iad-1-n02', 'node:iad-1:uid-iad-1-n02', '{"deadline_s":3600,"grace_period_s":null,"skip_fit_check":false,"on_failure":"keep"}', NULL, 'max', 1795000000000000, 1795000000000000, NULL, 1795003600000000, NULL, NULL, NULL, NULL, 11);
INSERT INTO runs (op_id, epoch, attempts, report_n, memory, progress, rev)
VALUES ('op_01M7Q5CQG0V3RS3DTR98H6BCFP', 1, 1, 3, '{"evicted":{}}', '{"done":1,"total":3,"unit":"replicas","message":"evicted 1 of 3","blockers":[]}', 11);
INSERT INTO events (rev, at_us, type, object_kind, object_name, object_cluster, op_id, actor, data)
VALUES (1, 1795000000000000, 'token.created', 'token', 'admin', NULL, NULL, NULL, '{"id":"tok_01M7Q5CQG0WGB28ZS2TQ4T5K1A","role":"admin","cluster":null}');
INSERT INTO events (rev, at_us, type, object_kind, object_name, object_cluster, op_id, actor, data)
VALUES (2, 1795000000000000, 'cluster.added', 'cluster', 'iad-1', 'iad-1', NULL, NULL, '{}');
INSERT INTO events (rev, at_us, type, object_kind, object_name, object_cluster, op_id, actor, data)
VALUES (3, 1795000000000000, 'cluster.online', 'cluster', 'iad-1', 'iad-1', NULL, NULL, '{}');
INSERT INTO events (rev, at_us, type, object_kind, object_name, object_cluster, op_id, actor, data)
VALUES (4, 1795000000000000, 'node.added', 'node', 'iad-1-n01', 'iad-1', NULL, NULL, '{"is_cordoned":false}');
INSERT INTO events (rev, at_us, type, object_kind, object_name, object_cluster, op_id, actor, data)
VALUES (5, 1795000000000000, 'node.added', 'node', 'iad-1-n02', 'iad-1', NULL, NULL, '{"is_cordoned":false}');
INSERT INTO events (rev, at_us, type, object_kind, object_name, object_cluster, op_id, actor, data)
VALUES (6, 1795000000000000, 'operation.created', 'operation', 'op_01M7Q5CQG0V3RS3DTR98H6BCFN', 'iad-1', 'op_01M7Q5CQG0V3RS3DTR98H6BCFN', 'admin', '{"type":"node.drain","target":"iad-1-n01","reason":null}');
INSERT INTO events (rev, at_us, type, object_kind, object_name, object_cluster, op_id, actor, data)
VALUES (7, 1795000000000000, 'operation.started', 'operation', 'op_01M7Q5CQG0V3RS3DTR98H6BCFN', 'iad-1', 'op_01M7Q5CQG0V3RS3DTR98H6BCFN', NULL, '{"type":"node.drain","target":"iad-1-n01"}');
INSERT INTO events (rev, at_us, type, object_kind, object_name, object_cluster, op_id, actor, data)
VALUES (8, 1795000000000000, 'operation.succeeded', 'operation', 'op_01M7Q5CQG0V3RS3DTR98H6BCFN', 'iad-1', 'op_01M7Q5CQG0V3RS3DTR98H6BCFN', NULL, '{"type":"node.drain","target":"iad-1-n01","code":"done","message":"it succeeded"}');
INSERT INTO events (rev, at_us, type, object_kind, object_name, object_cluster, op_id, actor, data)
VALUES (9, 1795000000000000, 'operation.created', 'operation', 'op_01M7Q5CQG0V3RS3DTR98H6BCFP', 'iad-1', 'op_01M7Q5CQG0V3RS3DTR98H6BCFP', 'max', '{"type":"node.drain","target":"iad-1-n02","reason":null}');
INSERT INTO events (rev, at_us, type, object_kind, object_name, object_cluster, op_id, actor, data)
VALUES (10, 1795000000000000, 'operation.started', 'operation', 'op_01M7Q5CQG0V3RS3DTR98H6BCFP', 'iad-1', 'op_01M7Q5CQG0V3RS3DTR98H6BCFP', NULL, '{"type":"node.drain","target":"iad-1-n02"}');
INSERT INTO events (rev, at_us, type, object_kind, object_name, object_cluster, op_id, actor, data)
VALUES (11, 1795000000000000, 'operation.progressed', 'operation', 'op_01M7Q5CQG0V3RS3DTR98H6BCFP', 'iad-1', 'op_01M7Q5CQG0V3RS3DTR98H6BCFP', NULL, '{"type":"node.drain","target":"iad-1-n02","progress":{"done":1,"total":3,"unit":"replicas","message":"evicted 1 of 3","blockers":[]}}');
INSERT INTO clusters (name, uid, created_us, epoch, session, incarnation, unclean_epoch, standbys, online, seen_us, protocol, kinds, allowed, kubernetes_version, operator_version, inventory_n, rev)
VALUES ('iad-1', 'uid-iad-1', 1795000000000000, 1, 'ses_iad-1_1', 'first', 0, '[]', true, 1795000000000000, 1, '{"node.cordon":1,"node.uncordon":1,"node.drain":1}', '["cordon","drain"]', NULL, '0.1.0', 1, 3);
INSERT INTO nodes (cluster, name, uid, ready, cordoned, doc, updated_us, rev)
VALUES ('iad-1', 'iad-1-n01', 'uid-iad-1-n01', true, false, '{"name":"iad-1-n01","uid":"uid-iad-1-n01","ready":true,"cordoned":false,"cordon":null,"labels":{},"capacity":{"cpu":64000,"nvidia.com/gpu":8},"allocatable":{"cpu":63000,"nvidia.com/gpu":8},"allocated":{"cpu":1000,"nvidia.com/gpu":2},"replicas":0}', 1795000000000000, 5);
INSERT INTO nodes (cluster, name, uid, ready, cordoned, doc, updated_us, rev)
VALUES ('iad-1', 'iad-1-n02', 'uid-iad-1-n02', true, false, '{"name":"iad-1-n02","uid":"uid-iad-1-n02","ready":true,"cordoned":false,"cordon":null,"labels":{},"capacity":{"cpu":64000,"nvidia.com/gpu":8},"allocatable":{"cpu":63000,"nvidia.com/gpu":8},"allocated":{"cpu":1000,"nvidia.com/gpu":2},"replicas":0}', 1795000000000000, 5)
