/**
 * What Maitred promises, each with an id. Tests cite the ids in their names as `[id]`; `test/requirements.test.ts` fails for a
 * promise that no test cites, and for an id that is not listed here. SECURITY.md refers to the same ids.
 */
export const REQUIREMENTS = {
  "turn-durable": "The user's message is durable before the model is called; an answered turn is in the journal, whatever is killed next.",
  "turn-once": "A turn is never in the journal twice for one idempotency key, also after a restart.",
  "turn-once-anywhere":
    "A request that several replicas get at once with one key is done once: the model is asked once, all answer the same.",
  "unknown-outcome-looked-up": "A write whose reply is lost is neither lost nor made twice: it is asked for again, or looked up.",
  "ready-means-ready": "Readiness is 503 where a turn would be refused, and where the engine is not the one that it was; with the reason.",
  "turn-order": "Turns of one session are answered in order, without interleaving; other sessions are never held up.",
  "turn-repeatable": "A turn whose model failed or whose client went away can be run again on the stored message.",
  "journal-torn": "A journal cut at any byte opens and loses at most the record that was torn.",
  "journal-full-disk": "A disk that is full or faulty is answered with 503, with nothing half-written, and recovers without a restart.",
  "window-bounded": "A window costs what it holds, and never splits a tool call from its result.",
  "window-exact": "An agent is given the last N completed rounds, 10 by default, and no others, wherever the prompt's begin.",
  "recent-lines":
    "The end of an open journal is read from the disk once; what is held of it in memory reads as the file does, whatever is cut off.",
  "write-back-once": "Every memory of an answered turn is stored exactly once, whatever is killed when.",
  "write-back-visible": "A turn that can't be written back is visible as failed and can be retried.",
  "outage-caught-up": "What is said while the model or a store is out of reach is read when it is back, within hours, at nobody's word.",
  "index-derived": "A lost or damaged index is rebuilt from the journals without a model.",
  "reply-never-waits": "A reply never waits for extraction, and waits for recall at most its deadline.",
  "query-first": "What a reply waits for is embedded before the texts of others that wait to be stored.",
  "degradation-honest": "memory.status tells how long-term memory did in the turn, in every fault.",
  "other-users-unaffected": "A fault that one user meets is not felt by another.",
  "owner-isolation": "No request by one owner reads or changes anything of another, whatever ids or filters it holds.",
  "owner-reserved": "Reserved and malformed user ids are refused before they reach a store.",
  "second-witness":
    "What must hold is borne out by the guest's own words, whatever a model made of them: else the guest is asked, and nothing is lost.",
  "need-told":
    "A need that the guest's own words tell and no reading took up is read for once more, else asked about by its name: never lost.",
  "one-in-a-slot": "Of needs that exclude each other one holds: a second takes its place where the guest says so, else the guest is asked.",
  "off-record-unsaid":
    "Of what the guest asks not to keep nothing is kept, asked about or recited but the name of a need, whatever a model makes of it.",
  "identity-from-server": "Identity comes from the server's own verification, never from a body, a tool argument or a model.",
  "local-mode-loopback": "In local mode the server binds to loopback and refuses foreign hosts and origins.",
  "hostile-input": "Hostile input is answered with a 4xx: no 5xx, no hang, no stack.",
  "no-text-in-logs": "Message text, memory text and keys are not logged unless LOG_CONTENT=true.",
  "need-ahead": "What must hold from a day to come is listed, told and held against bookings of then before it begins.",
  "replay-shows-what-is-lost":
    "Memories of what was said are formed anew without anything being written, and what another reader loses is told and ends the command with 6.",
  "booking-receipt":
    "A booking leaves a receipt of what was checked, by whose words, and what was waived: its verdict replays, and nothing forgotten is in it.",
  "answered-after-the-last-question":
    "What was asked about for the last time can be settled by the next message, and is not asked about again.",
  "asked-before-forgotten": "What a guest is asked about before it is taken away stays until they answer.",
  "forgotten-as-a-whole":
    "To forget all about somebody forgets what is soft, and names what must hold first: the guest's yes takes it, their no keeps it.",
  "ended-in-other-words":
    "Words that say that a need is over without naming it end it after the guest's word, never in silence; a doubt about another asks nothing.",
  "by-hand-read": "A memory by hand that names no category is read: an allergy must hold, whoever adds it.",
  "only-users-words": "Only the user's own words become memories: not the assistant's, a tool's, a page's or a quoted third person's.",
  "poison-refused": "Instructions, credentials and planted preferences are not promoted.",
  "memory-informs":
    "A memory never authorises: bookings are stopped by hard constraints even when recall missed them or the store is down.",
  "gate-of-every-domain":
    "What binds, in any domain, shows first and acts on the guest's agreement to just that; what must hold for those who come stops it.",
  "operator-apart": "The operator's token opens no user's door and shows nobody's words; no user's credentials open the operator's.",
  "studio-shows-text-as-text":
    "Whatever text is in an answer, Studio shows it as text on every screen: nothing of it runs, is loaded or leads away.",
  "jobs-survive":
    "Work over all users is seen and stopped from every process, outlives the one that ran it, and is done once where several are to do it.",
  "one-job-of-a-kind": "Work over all users that an operator begins runs once at a time of its kind, over all processes.",
  "reindex-beside-turns": "A reindex beside live turns leaves nothing out of history and has nothing twice.",
  "forgotten-stays-forgotten": "What was forgotten is not brought back by restart, retry, reindex or replay, and its sentence is hidden.",
  "forgotten-untold":
    "A title, topic or tag that was derived of a message whose memory was forgotten is made anew without it, in forks too.",
  "why-exact": "Every memory can be traced to the user's own words, byte for byte.",
  "erasure-complete": "Erasing an owner leaves no byte of their text in any file or collection of ours.",
  "erasure-verified": "A receipt says verified only when every store was looked at; an erasure that was killed finishes at the next start.",
  "import-not-ahead": "What an import says was said later than now holds from now, or is refused: nothing of it is hidden until then.",
  "export-complete": "Export, erase, import, export gives the same content.",
  "limits-hold": "Body, message, page context, depth, rate, streams and slow readers are bounded.",
  "extraction-calls": "A turn is read by one call at most; what can wait, and turns that come quickly, are read along with another.",
  "needs-read-at-once":
    "What may hold a need, a limit, somebody's state, a correction or a word about keeping is read at once, in any language.",
  "reading-same-bytes": "Prompt and schema of a reading are the same bytes for every guest and every kind of reading.",
  "one-call": "A title or a summary that is due is made by the call which reads a message, and by one of its own where that gave none.",
  "stand-in-goes-on": "Without a model messages are read by rules where the meaning of sentences can't be had.",
  "stand-in-asks": "Without a model, what may have to hold and isn't plain is asked about, beside a joke too, and not left out.",
  "unanswered-not-lost": "What was said in a turn that got no answer becomes a memory as in any other, once.",
  "unreadable-not-lost": "A reading that stays unreadable is told as failed, and can be asked for again; what was said is not lost by it.",
  "doctor-true": "What `doctor --model` says of turns, memories and window is what the product does with that model.",
  "small-window": "A model of 4,096 tokens answers and reads, one of 2,048 answers, whatever its server does with what is longer.",
  "measured-once":
    "What was measured of a model is kept with its date, for all processes and over restarts, until it is old or an answer contradicts it.",
  "a-real-model-answers":
    "Under a real server a real model answers, however small it is, and of what it gets wrong nothing is kept or shown.",
  "slow-reader": "A slow model's readings last as long as it takes, and a guest's turn waits for none of them longer than two seconds.",
  "reading-bounded": "A message costs two answers of a model at most, as long as it can need; what they can't read waits visibly.",
  "aside-not-lost": "What waits to be read is read with a next message, and before a booking; else after a while, by itself.",
  "tokens-told": "What models cost is told by task, for a message and a session, also after a restart.",
  "cost-limits": "Past a day's limit extraction waits and is not lost, bookings ask, and past the hard one no turn is begun.",
  "cost-seen-and-bounded":
    "What models cost is told in money for a turn and a session, null where a price is unknown, and bounds a tenant's day.",
  "operator-sees-what-happened":
    "Whoever runs the server sees how a turn went, what was recalled, proposed, asked and refused, and why; it goes with its owner.",
  "unknown-is-null": "What an operator is told of and isn't known is null, never 0.",
  "arguments-known": "A tool of ours is not run with an argument that it doesn't have; the model is told which one was meant.",
  "filters-as-stated": "Memories are found by category, companion and subject as these may be stated.",
  "tenant-settings": "A tenant's model, prompt, categories and retention hold for its own users, and for nobody else's.",
  "events-told": "What happens to sessions, memories and owners is told at least once, whatever is killed when; repeats have the same id.",
  "events-dead-kept": "What a webhook gave up is kept for being repeated, as long as events are, and then dropped.",
  "backup-whole": "A backup has all that was answered before it began, whatever store it is of and restored to; a damaged one is refused.",
  "sealed-at-rest":
    "Encrypted, no file, table or backup has a byte of what was said, and what was changed or put into another's place is refused.",
  "erased-by-key": "Encrypted, an erasure destroys the owner's key first: no backup of before gives anything of them.",
  "renewed-in-use":
    "A user's key is renewed while servers go on with them: nothing becomes unreadable, nothing is left under the key before, and who is erased stays so.",
  "events-moved": "A move to another store takes along what is told, what waits for a webhook and what it gave up.",
  "events-resumed": "Whoever follows events goes on behind the last that they have, and misses none.",
  "merge-whole": "A merged visitor's things are the known user's, each once, and the visitor's name is taken for theirs.",
  "merge-undone": "A merge that is undone within 30 days gives back what was the visitor's; what was erased in between stays erased.",
  "merge-finished": "A merge or its undo that is broken off at any point is finished, with nothing lost and nothing twice.",
  "parts-say-all":
    "An answer's parts hold all that its model said, in its order, with what it showed where that came; wherever the answer is told.",
  "used-is-what-shaped":
    "An answer names as used the memories that its model cited, a tool went by or found, or the gate checked, and no others.",
  "page-provenance": "On the page, what an answer went by stands above it with the guest's own words behind it, after a reload too.",
  "page-same-request": "A turn that failed, or lost its connection, goes out from the page again as it was, and is there once.",
  "page-forget-undo": "What is forgotten on the page can be brought back while its notice stands; leaving the page sends it at once.",
  "page-in-step": "Pages of one guest show what another one, or another door, has done.",
  "page-memory-off": "With long-term memory off the page says so, and makes no request that fails.",
  "understands-without-a-key":
    "Without a key memories are found by what they mean, by a model in the package, and an unrelated question recalls nothing by likeness.",
  "embedder-changes-safely": "A store made with another embedder is never mixed: it goes on with its own, or says what to run.",
  "stop-graceful": "SIGTERM finishes turns in flight and exits 0.",
} as const;

export type Requirement = keyof typeof REQUIREMENTS;
