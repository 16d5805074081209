INSERT INTO architecture_decisions (project_id, title, decision) VALUES (1, 'Use FastAPI', 'Serve the API with FastAPI.');
INSERT INTO code_patterns (project_id, category, name) VALUES (1, 'caching', 'Cache-aside');
INSERT INTO work_sessions (session_id, project_id) VALUES ('ses-2026-11-29-a', 1);
INSERT INTO pitfalls (project_id, category, title, severity) VALUES (1, 'caching', 'Stampede on expiry', 'critical');
INSERT INTO agent_runs (agent_name, agent_version, trigger_type, trigger_payload, status)
 VALUES ('dba-agent', '1.4.0', 'alert', '{"alert": "replica lag", "host": "db-2"}', 'succeeded');
INSERT INTO agent_memory (agent_name, summary) VALUES ('dba-agent', 'Replica lag after a bulk delete; throttled the purge job.');
UPDATE architecture_decisions SET rationale = 'Async first.' WHERE title = 'Use FastAPI';

SELECT title, decision, rationale, decided_at FROM architecture_decisions
 WHERE project_id = 1 AND decided_at > DATE_SUB(NOW(), INTERVAL 30 DAY) ORDER BY decided_at DESC LIMIT 10;
SELECT category, name, description, code_example FROM code_patterns
 WHERE project_id = 1 AND confidence_score >= 0.80 ORDER BY usage_count DESC, confidence_score DESC LIMIT 20;
SELECT title, description, how_to_avoid FROM pitfalls
 WHERE project_id = 1 AND category = 'caching' AND severity IN ('critical', 'high') ORDER BY encountered_count DESC;
SELECT context FROM work_sessions WHERE session_id = 'ses-2026-11-29-a' ORDER BY started_at DESC LIMIT 1;
