-- Who confirmed or rejected a link, so that pages and postmortems can name the person. Earlier verdicts have no name.
ALTER TABLE correlations ADD COLUMN verdict_by TEXT;
