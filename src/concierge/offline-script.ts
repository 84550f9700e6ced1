import type { OfflineScript, ScriptMove, ScriptView } from "../ports/offline-script.js";
import { type Intent, intentOf } from "./script/intent.js";
import { type Wish, wishIn } from "./script/wish.js";
import { asking } from "./stand-in/asking.js";
import { answerQuote, book } from "./stand-in/booking-moves.js";
import { cancel, cancelById } from "./stand-in/cancel-moves.js";
import { fact } from "./stand-in/fact-moves.js";
import { type Habits, habitsOf } from "./stand-in/habits.js";
import { chooseMemory, command } from "./stand-in/memory-moves.js";
import { callThen, isFailure, say } from "./stand-in/moves.js";
import { bookingsOf, offeredCancellation } from "./stand-in/past.js";
import * as replies from "./stand-in/replies.js";
import { details, search } from "./stand-in/search-moves.js";
import { CONCIERGE_WORDS } from "./words.js";

/** Of a message: rules find nothing new beyond it, and must not hold the process up over it. */
const MAX_READ_CHARS = 2_000;

/** The concierge's everyday requests, by rules: what the stand-in model plays where no model is connected. English. */
export const conciergeScript: OfflineScript = {
  name: "concierge script",
  words: CONCIERGE_WORDS,
  next(given) {
    const view = { ...given, message: given.message.slice(0, MAX_READ_CHARS) };
    const wish = wishIn(view);
    return asking(moveFor(intentOf(view, wish), view, wish, habitsOf(view.memories)), view);
  },
};

function moveFor(intent: Intent, view: ScriptView, wish: Wish, habits: Habits): ScriptMove {
  switch (intent.kind) {
    case "command":
      return command(intent.command, view);
    case "settle":
      return callThen(
        view,
        { name: "settle_memory", arguments: { answers: intent.answers.map((answer) => ({ ...answer })) } },
        replies.settledReply,
      );
    case "choose_memory":
      return chooseMemory(intent.choice, view);
    case "answer_quote":
      return answerQuote(view);
    case "decline_quote":
      return say("Understood, nothing is booked. Shall I look for something else?");
    case "confirm_cancel":
      return cancelById(view, offeredCancellation(view));
    case "decline_cancel":
      return say("Understood, the booking stays as it is.");
    case "cancel":
      return cancel(view);
    case "list_bookings":
      return callThen(view, { name: "list_bookings", arguments: {} }, (seen) =>
        isFailure(seen) ? replies.failureReply(seen) : replies.bookingsReply(bookingsOf(seen) ?? []),
      );
    case "book":
      return book(view, wish, habits);
    case "details":
      return details(view, wish, habits);
    case "search":
      return search(view, wish, habits);
    case "fact":
      return fact(view);
    case "statement":
      return say(replies.NOTED);
    case "thanks":
      return say("You are welcome. Is there anything else I can do?");
    case "greeting":
      return say(`Good to see you. ${replies.HELP}`);
    case "help":
      return say(replies.HELP);
  }
}
