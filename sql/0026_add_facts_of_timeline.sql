-- what an entry says, as data: JSON {code, …}; null if the kind, the code and the text say it all
ALTER TABLE timeline ADD COLUMN facts TEXT CHECK (facts IS NULL OR json_valid(facts));
