import type { ModelToolCall } from "../../ports/chat-model.js";

/** A piece of a call as endpoints send them: any of it may be missing. */
export interface CallPart {
  readonly index?: number | null | undefined;
  readonly id?: string | null | undefined;
  readonly name?: string | null | undefined;
  /** A piece of JSON as text, or the whole as an object. */
  readonly arguments?: unknown;
}

interface Growing {
  readonly index: number | null;
  id: string;
  name: string;
  text: string;
}

/**
 * Puts calls together from their pieces. Endpoints number every parallel call 0, leave index or id out, repeat the name with each piece, or
 * send arguments as an object: a piece with a new id, or with a name after a call that is whole, begins another call.
 */
export class CallAssembly {
  readonly #calls: Growing[] = [];

  add(part: CallPart): void {
    const call = this.#callFor(part);
    if (part.id) call.id ||= part.id;
    if (part.name) call.name ||= part.name;
    if (typeof part.arguments === "string") call.text += part.arguments;
    else if (typeof part.arguments === "object" && part.arguments !== null) call.text = JSON.stringify(part.arguments);
  }

  /** In the order in which they began. A call without a name can't be made and is left out. */
  calls(): ModelToolCall[] {
    return this.#calls.flatMap(({ id, name, text }) => (name === "" ? [] : [{ id, name, arguments: withoutEmptyStart(text) }]));
  }

  /** Whether there are calls, and the arguments of each are whole. */
  get whole(): boolean {
    const calls = this.calls();
    return calls.length > 0 && calls.every((call) => call.arguments === "" || isJson(call.arguments));
  }

  #callFor({ index = null, id, name }: CallPart): Growing {
    const last = index === null ? this.#calls.at(-1) : this.#calls.findLast((call) => call.index === index);
    const another =
      last === undefined ||
      (id
        ? last.id !== "" && last.id !== id
        : Boolean(name) && last.name !== "" && (last.name !== name || last.text === "" || isJson(last.text)));
    if (!another) return last;
    const known = id ? this.#calls.find((call) => call.id === id && (index === null || call.index === index)) : undefined;
    if (known) return known;
    const call = { index, id: "", name: "", text: "" };
    this.#calls.push(call);
    return call;
  }
}

/** Some relays begin with an empty object and send the real one after it. */
function withoutEmptyStart(text: string): string {
  return text.startsWith("{}") && text.length > 2 && isJson(text.slice(2)) ? text.slice(2) : text;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
