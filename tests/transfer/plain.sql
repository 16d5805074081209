-- The four tables in their plain original form, as agents' tools made them: no projects, ENUMs, FLOAT confidence.
CREATE TABLE architecture_decisions (
  id INT AUTO_INCREMENT PRIMARY KEY,
  project_id INT,
  title VARCHAR(512),
  decision MEDIUMTEXT,
  rationale TEXT,
  alternatives_considered TEXT CHARACTER SET latin1,
  status VARCHAR(40) DEFAULT 'accepted',
  decided_at DATETIME DEFAULT CURRENT_TIMESTAMP,
  tags TEXT,
  author VARCHAR(80),
  INDEX (project_id, decided_at), INDEX (status)
) DEFAULT CHARSET utf8mb4;
CREATE TABLE code_patterns (
  id INT AUTO_INCREMENT PRIMARY KEY,
  project_id INT,
  category VARCHAR(100),
  name VARCHAR(255),
  description TEXT,
  code_example TEXT,
  language VARCHAR(100),
  confidence_score FLOAT DEFAULT 0.5,
  usage_count BIGINT DEFAULT 0,
  created_at TIMESTAMP NULL DEFAULT CURRENT_TIMESTAMP,
  updated_at TIMESTAMP NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP,
  INDEX (project_id, category), INDEX (confidence_score)
) DEFAULT CHARSET utf8mb4;
CREATE TABLE work_sessions (
  id INT AUTO_INCREMENT PRIMARY KEY,
  session_id VARCHAR(400) CHARACTER SET utf8mb4,
  project_id INT,
  started_at DATETIME(6),
  ended_at DATETIME,
  summary TEXT,
  context LONGTEXT,
  INDEX (project_id, started_at)
) DEFAULT CHARSET utf8mb3;
CREATE TABLE pitfalls (
  id INT AUTO_INCREMENT PRIMARY KEY,
  project_id INT,
  category VARCHAR(50),
  title VARCHAR(255),
  description TEXT,
  how_to_avoid TEXT,
  severity ENUM('critical', 'high', 'medium', 'low'),
  encountered_count INT DEFAULT 1,
  created_at DATETIME DEFAULT CURRENT_TIMESTAMP,
  INDEX (project_id, severity)
) DEFAULT CHARSET utf8mb4;
