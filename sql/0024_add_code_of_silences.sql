-- Whether an entry is about the beginning or the end of a silence becomes a code. Until now, only the sentence said it.
UPDATE timeline
   SET code = iif(text LIKE '%” no longer applies to %' OR text LIKE 'a silence no longer %', 'unsilenced', 'silenced')
 WHERE kind = 'silence';
