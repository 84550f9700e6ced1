/** Answers of the operator's routes for Studio, made up: a tenant's evening. All moments are before {@link STUDIO_NOW}. */

export const STUDIO_NOW = "2026-11-28T19:30:00.000Z";
/** As many conversations as nobody can load at once. */
export const CONVERSATIONS = 100_000;

const before = (minutes: number) => new Date(Date.parse(STUDIO_NOW) - minutes * 60_000).toISOString();
const place = { tenant: "harbour", user: "ada", session_id: "0190f2c0-0000-7000-8000-000000000001" };
const said = (text: string) => ({ text, text_chars: text.length });
const quoted = (quote: string) => ({ quote, quote_chars: quote.length });

const TITLES = [
  ["ada", "Anything good this weekend?", "ok", 4],
  ["ben", "Table for my parents", "ok", 9],
  ["cleo", "Opera in May", "timeout", 2],
  ["dan", "Cancel my booking", "ok", 3],
  ["noor", "حفلة موسيقية قريبة من المرفأ", "ok", 5],
  ["yuki", "Jazz in a small place, and late", "degraded", 6],
  ["eva", "Quiet restaurant near the theatre", "empty", 1],
  ["finn", "A walk for four, and a dog", "disabled", 2],
] as const;

function conversation(index: number) {
  const [user, title, memory_status, turns] = TITLES[index % TITLES.length] ?? TITLES[0];
  return {
    ...place,
    user,
    session_id: index === 0 ? place.session_id : `0190f2c0-0000-7000-8000-${String(index + 1).padStart(12, "0")}`,
    title,
    title_chars: title.length,
    status: "active",
    turns,
    last_active_at: before(2 + index * 7),
    cost: 0.0028 * turns,
    tokens: 1_598 * turns,
    memory_status,
    failed_turns: index === 2 ? 1 : 0,
    pending_turns: index === 1 ? 1 : 0,
  };
}

const messages = [
  ["I prefer jazz concerts, and I need step-free access.", "Noted. Shall I look for something this week?"],
  ["Thanks, later.", "Any time."],
  [
    "Anything good this weekend?",
    "I went by what I know of you. Five concerts are step-free; the Harbour Swing Orchestra plays on Saturday at 19:30.",
  ],
] as const;

const turnLines = messages.map(([message, answer], index) => ({
  turn: index + 1,
  at: before(30 - index * 10),
  message,
  message_chars: message.length,
  answer,
  answer_chars: answer.length,
  memory_status: "ok",
  outcome: "completed",
  error_code: null,
  cost: 0.0031,
  duration_ms: 1_900,
}));

function turn(number: number) {
  const [message, answer] = messages[number - 1] ?? messages[0];
  const known = ["User Context:", "- Needs step-free access (accessibility, must hold)", "- Prefers jazz concerts (genre, since March)"];
  const context = number < 3 ? known.slice(0, 2) : known;
  return {
    ...place,
    turn: number,
    at: before(30 - number * 10),
    model: "gpt-4o-mini",
    outcome: "completed",
    error_code: null,
    incognito: false,
    duration_ms: 1_900,
    first_token_ms: 905,
    message,
    message_chars: message.length,
    answer,
    answer_chars: answer.length,
    prompt_blocks: [
      {
        name: "system",
        tokens: 1_080,
        cached: 1_080,
        ...said("You are the concierge of a house by the harbour.\nYou find events and tables, and book them."),
        same_as_before: true,
      },
      { name: "rounds", tokens: 96, cached: 0, ...said(`user: ${message}`), same_as_before: false },
      { name: "context", tokens: 140, cached: false, ...said(context.join("\n")), same_as_before: false },
      { name: "now", tokens: 24, cached: false, ...said("Sat 28 Nov 2026, 20:30 Europe/Berlin"), same_as_before: null },
    ],
    recalled: [
      {
        id: "m1",
        ...said("Needs step-free access"),
        category: "accessibility",
        strength: "hard",
        subject: "self",
        why: "own_need",
        score: null,
        used: true,
      },
      {
        id: "m2",
        ...said("Prefers jazz concerts"),
        category: "genre",
        strength: "soft",
        subject: "self",
        why: "likeness",
        score: 0.71,
        used: true,
      },
      {
        id: "m3",
        ...said("Usually books 2 tickets"),
        category: "party",
        strength: "soft",
        subject: "self",
        why: "standing",
        score: null,
        used: false,
      },
    ],
    held_back: { limit: 1, occasion: 2 },
    proposals: [
      { op: "add", ...said("Prefers jazz"), ...quoted("I prefer jazz concerts"), outcome: "kept", reason: null, memory_id: "m2" },
      {
        op: "add",
        ...said("Is allergic to nuts"),
        ...quoted("allergic to nuts, I think"),
        outcome: "asked",
        reason: "stance_unsure",
        memory_id: "m4",
      },
      {
        op: "end",
        ...said("Needs step-free access"),
        ...quoted("no more"),
        outcome: "refused",
        reason: "quote_not_in_message",
        memory_id: null,
      },
    ],
    parts: [
      { type: "text", text: answer },
      { type: "cards", cards: [{ title: "Harbour Swing Orchestra", from: 23, step_free: true }] },
      { type: "used", memory_ids: ["m1", "m2"] },
    ],
    steps: [
      { name: "model", started_ms: 66, duration_ms: 720, error: null },
      { name: "search_events", started_ms: 790, duration_ms: 38, error: null },
      { name: "send_postcard", started_ms: 830, duration_ms: 4, error: "TOOL_FAILED" },
    ],
    timings: [
      { name: "window", started_ms: 0, duration_ms: 4 },
      { name: "recall", started_ms: 4, duration_ms: 61 },
      { name: "model", started_ms: 66, duration_ms: 720 },
      { name: "search_events", started_ms: 790, duration_ms: 38 },
      { name: "gate", started_ms: 830, duration_ms: 9 },
      { name: "model", started_ms: 842, duration_ms: 1_058 },
      { name: "write_back", started_ms: 1_900, duration_ms: null },
    ],
    usage: { input_tokens: 1_412, cached_tokens: 1_080, output_tokens: 186, estimated: false },
    cost: 0.0031,
    memory_status: "ok",
    write_back: { state: "done", attempts: 1, error_code: null },
  };
}

/** Turns once more, as they were asked for. */
function replay(number: number, { model, memory }: { readonly model?: string; readonly memory?: boolean }) {
  const [, answer] = messages[number - 1] ?? messages[0];
  const other = "Five concerts are step-free; the nearest is the Harbour Swing Orchestra, on Saturday at 19:30.";
  const [access, jazz] = turn(number).recalled;
  const shown = { model: "gpt-4o-mini", tools: ["search_events"], memory_status: "ok", recalled: [access, jazz] };
  const known = memory === false ? { memory_status: "disabled", recalled: [] } : {};
  return {
    recorded: { ...shown, answer, answer_chars: answer.length, tokens: 1_598, cost: 0.0028, duration_ms: 1_900 },
    replayed: {
      ...{ ...shown, ...known, answer: other, answer_chars: other.length, tokens: 1_540, cost: 0.0011, duration_ms: 1_200 },
      ...(model !== undefined && { model }),
    },
    difference: { tokens: -58, cost: -0.0017 },
  };
}

const change = (minutes: number, event: string, memory_id: string, text: string, more: object = {}) => ({
  at: before(minutes),
  event,
  memory_id,
  ...said(text),
  quote: null,
  replaces: [],
  reason: null,
  session_id: place.session_id,
  turn: 1,
  ...more,
});
const TIMELINE = [
  change(12, "waits", "m4", "Is allergic to nuts", { ...quoted("allergic to nuts, I think"), reason: "stance_unsure", turn: 3 }),
  change(14, "rejected", "m5", "A friend hates opera", { reason: "stance_reported", turn: 3 }),
  change(30, "added", "m2", "Prefers jazz concerts", { ...quoted("I prefer jazz concerts"), replaces: ["m0"] }),
  change(30, "superseded", "m0", "Prefers rock", { reason: "by_the_guests_words" }),
  change(30, "added", "m1", "Needs step-free access", quoted("I need step-free access")),
  change(60 * 24 * 200, "added", "m6", "Lives in Turin", { ...quoted("we moved to Turin"), replaces: ["m7"] }),
  change(60 * 24 * 200, "superseded", "m7", "Lives in Porto"),
  change(60 * 24 * 270, "added", "m0", "Prefers rock", quoted("rock, mostly")),
  change(60 * 24 * 400, "added", "m7", "Lives in Porto", quoted("I live in Porto")),
];
const GONE = new Set(["superseded", "rejected", "waits"]);

/** What held: of each memory what was last said of it, if that was not its end. */
function heldAt(moment: string) {
  const latest = new Map<string, (typeof TIMELINE)[number]>();
  for (const each of TIMELINE) if (each.at <= moment && !latest.has(each.memory_id)) latest.set(each.memory_id, each);
  return [...latest.values()].filter(({ event }) => !GONE.has(event));
}

const plotStep = (index: number) => {
  const busy = Math.round(40 + 30 * Math.sin(index / 3.8));
  const unknown = index === 7;
  return {
    at: before(60 * (24 - index)),
    turns: busy,
    failed: index % 9 === 0 ? 2 : 0,
    p50_first_token_ms: unknown ? null : 420 + 9 * busy,
    p95_first_token_ms: unknown ? null : 900 + 21 * busy,
    recall: unknown ? null : { ok: busy - 4, empty: 2, timeout: index % 5 === 0 ? 2 : 0, degraded: index === 12 ? 6 : 0 },
    given: unknown ? null : busy * 3,
    held_back: unknown ? null : busy,
    proposals: { kept: Math.round(busy / 2), asked: Math.round(busy / 9), refused: Math.round(busy / 12) },
    cost: busy * 0.003,
    cost_by_model: { "gpt-4o-mini": busy * 0.0024, "gpt-4o": busy * 0.0006 },
    cost_by_tenant: { harbour: busy * 0.002, meadow: busy * 0.001 },
    tokens: busy * 1_600,
    erasures: index === 15 ? 1 : 0,
  };
};

interface Asked {
  /** Below `/v1/operator/`, each part decoded. */
  readonly path: readonly string[];
  readonly query: URLSearchParams;
  readonly body?: unknown;
}

const page = (data: readonly unknown[], next_cursor: string | null = null) => ({ data, next_cursor });

function conversationsPage(query: URLSearchParams) {
  const from = Number(query.get("cursor") ?? 0);
  const limit = Number(query.get("limit") ?? 50);
  const fits = ({ user, memory_status }: ReturnType<typeof conversation>) =>
    [query.get("user"), user].includes(null) || query.get("user") === user
      ? !query.has("memory_status") || query.get("memory_status") === memory_status
      : false;
  const indices = Array.from({ length: Math.min(limit, CONVERSATIONS - from) }, (_, index) => from + index);
  const next = from + limit < CONVERSATIONS ? String(from + limit) : null;
  return page(indices.map(conversation).filter(fits), next);
}

/** What the route answers; undefined: there is no such thing. */
export function studioAnswer({ path, query, body }: Asked): unknown {
  const [resource, first, second, third] = path;
  switch (resource) {
    case "studio":
      return { content: true, currency: "EUR", version: "0.1.0", model: "gpt-4o-mini", tenants: ["harbour", "meadow"] };
    case "users":
      return page(TITLES.map(([user], index) => ({ tenant: "harbour", user, sessions: index + 1, last_active_at: before(index * 50) })));
    case "conversations":
      return first === undefined
        ? conversationsPage(query)
        : { ...conversation(0), turn_count: 3, turns: turnLines.toReversed(), next_cursor: null };
    case "turns":
      return third === "replay" ? replay(Number(second), body as object) : turn(Number(second));
    case "guests":
      if (second === undefined)
        return {
          tenant: "harbour",
          user: first,
          sessions: 12,
          memories: 4,
          waiting: 1,
          bookings_count: 1,
          bookings: [
            { id: "b1", title: "Harbour Swing Orchestra", at: before(-600), tickets: 2, needs_checked: ["step_free"], status: "booked" },
          ],
          booking_receipts: [
            {
              number: 1,
              at: before(-600),
              session_id: "s1",
              turn: 3,
              body: {
                booked: "Harbour Swing Orchestra, Stalls, 2",
                checked: {
                  needs: [
                    { memory: "Needs step-free access", who: "self", stated: { state: "met" } },
                    { memory: "Is vegan", who: "Ida", stated: { state: "unknown", because: "The catalogue doesn't say." } },
                  ],
                  unchecked: false,
                },
                waived: [{ memory_id: "m1", how: "mentioned" }],
              },
            },
          ],
          receipts: [{ receipt_id: "r1", at: before(29), verified: true, checked: [{ memory: "m1", quote: "I need step-free access" }] }],
        };
      return page(query.has("as_of") ? heldAt(query.get("as_of") ?? "") : TIMELINE);
    case "waiting":
      return page([
        {
          tenant: "harbour",
          user: "ada",
          memory_id: "m4",
          ...said("Is allergic to nuts"),
          reason: "stance_unsure",
          since: before(12),
          asked: 2,
        },
        {
          tenant: "meadow",
          user: "ben",
          memory_id: "m9",
          ...said("Parents eat no fish"),
          reason: "about_others",
          since: before(900),
          asked: 0,
        },
      ]);
    case "queues":
      if (first === undefined)
        return {
          data: [
            { name: "write_back", due: 1, waiting: 2, failed: 1, oldest_at: before(9) },
            { name: "webhooks", due: 0, waiting: 0, failed: 0, oldest_at: null },
          ],
        };
      return page([
        {
          ...place,
          turn: 2,
          attempts: query.get("state") === "failed" ? 8 : 1,
          error_code: "MODEL_UNAVAILABLE",
          due_at: before(query.get("state") === "failed" ? 200 : -2),
        },
      ]);
    case "plots":
      return { steps: Array.from({ length: 24 }, (_, index) => plotStep(index)) };
    case "health":
      return {
        now: {
          status: "degraded",
          parts: { state: { status: "ok" }, vectors: { status: "degraded", detail: "answers late" }, model: { status: "ok" } },
        },
        history: [
          { at: before(44), status: "degraded", parts: { vectors: "degraded" } },
          { at: before(900), status: "ok", parts: { state: "ok", vectors: "ok", model: "ok" } },
        ],
      };
    default:
      return undefined;
  }
}
