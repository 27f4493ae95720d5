CREATE TABLE item (id serial PRIMARY KEY, name text NOT NULL);
