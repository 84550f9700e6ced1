import type { Context } from "hono";
import type { ChatEvent } from "../ports/application.js";
import type { HttpEnv } from "./http-env.js";

/** Leaves for the error handler which session holds the message, from the event on that tells it. */
export function noteKept(c: Context<HttpEnv>): (event: ChatEvent) => void {
  return (event) => {
    if (event.type === "session") c.set("keptIn", event.session_id);
  };
}
