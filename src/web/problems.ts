/** What went wrong, in a guest's words, by the problem's code: a title, and what can be done. */

export type ProblemBody = Readonly<
  Partial<Record<"title" | "detail" | "code" | "hint", string>> & { status?: number; retry_after?: number }
>;

/** A problem that the server answered with, or its being out of reach. */
export class Problem extends Error {
  readonly code: string;
  readonly hint: string;
  readonly status: number;
  /** Seconds after which trying again makes sense; 0 where the server doesn't say. */
  readonly retryAfter: number;

  constructor(body: ProblemBody) {
    super(body.detail || body.title || "Something went wrong");
    this.code = body.code ?? "UNKNOWN";
    this.hint = body.hint ?? "";
    this.status = body.status ?? 0;
    this.retryAfter = body.retry_after ?? 0;
  }
}

export const problemOf = (error: unknown): Problem =>
  error instanceof Problem ? error : new Problem({ detail: error instanceof Error ? error.message : String(error) });

const AGAIN = "Your message is kept. Try again: nothing is done twice.";

/** A function, so that Studio, which asks for none, has none of them in its bundle. */
const words = (): Readonly<Record<string, readonly [title: string, hint: string]>> => ({
  OFFLINE: ["I can't reach the house at the moment", "As soon as the connection is back, I send this again."],
  DISCONNECTED: ["The connection broke off", AGAIN],
  MODEL_TIMEOUT: ["That took too long", `What I think with was too slow. ${AGAIN}`],
  MODEL_UNAVAILABLE: ["I can't answer right now", `What I think with is away, which is not your doing. ${AGAIN}`],
  MODEL_QUOTA: ["I can't answer right now", "The house has used up what it may ask for. Please try again a little later."],
  MODEL_REFUSED_REQUEST: ["I can't answer: something in the house has to be mended", "It is nothing that you said. Your message is kept."],
  MODEL_CONTENT_FILTER: ["I can't answer this", "Try to say it differently."],
  CONTEXT_TOO_LARGE: ["This is more than I can read at once", "Say it in fewer words, or start a new conversation."],
  COST_LIMIT_REACHED: ["That is all for today", "I can answer again tomorrow."],
  RATE_LIMITED: ["That was a lot at once", "Wait a moment, then try again."],
  TOO_MANY_STREAMS: ["Several answers are under way", "Wait until one of them is there, then try again."],
  SESSION_BUSY: ["An answer is still under way here", "Wait a moment, then try again."],
  IDEMPOTENCY_IN_PROGRESS: ["This answer is still under way", "Wait a moment, then try again."],
  IDEMPOTENCY_KEY_REUSED: ["This can't be sent again as it is", "Send your message anew."],
  SESSION_NOT_FOUND: ["This conversation is not there any more", "Start a new one."],
  SESSION_NOT_ACTIVE: ["This conversation is put away", "Bring it back from the archive or the bin, then try again."],
  EDIT_NOT_LAST: ["The conversation has gone on elsewhere", "Try again to say this after what was said there."],
  STORAGE_UNAVAILABLE: ["I can't write anything down right now", AGAIN],
  LONG_TERM_MEMORY_UNAVAILABLE: ["My memory is out of reach right now", "Try again in a moment."],
  LONG_TERM_MEMORY_DISABLED: ["My memory is switched off here", "I only know what we say in this conversation."],
  MEMORY_NOT_FOUND: ["This is forgotten already", ""],
  SHUTTING_DOWN: ["The house is restarting", AGAIN],
  UNAUTHENTICATED: ["You are signed out", "Try again to sign in and go on."],
});

/** Those that are over after the seconds that the server names. */
const WAITS = ["RATE_LIMITED", "TOO_MANY_STREAMS"];

/** Those that only whoever runs the server can mend: what they have to do is said too, as a guest may be the one. */
const HOUSE = ["MODEL_REFUSED_REQUEST"];

/** For a guest. */
export function wordsFor(error: unknown): { readonly title: string; readonly hint: string } {
  const { code, status, message, hint: own, retryAfter } = problemOf(error);
  const [title, usual = ""] = words()[code] ?? (status >= 500 ? ["Something went wrong on my side", AGAIN] : []);
  if (title === undefined) return { title: "That did not work", hint: status > 0 ? message : "Try again, or reload the page." };
  if (HOUSE.includes(code)) return { title, hint: [usual, own].filter(Boolean).join(" ") };
  return { title, hint: WAITS.includes(code) && retryAfter > 1 ? `Try again in ${retryAfter} seconds.` : usual };
}

/** As the server says it, where what it says is meant for who typed. */
export function serverWords(error: unknown): string {
  const { message, hint } = problemOf(error);
  return [message, hint].filter(Boolean).join(" ");
}

/** Those that are over by themselves: what was asked is sent again without a word. */
export const passes = ({ code }: Problem): boolean =>
  ["OFFLINE", "DISCONNECTED", "SHUTTING_DOWN", "IDEMPOTENCY_IN_PROGRESS"].includes(code);
