/** What a guest says, and how a model would go about it: the same for whatever is measured. */

/** What reading a message gives; what is left out is at its default. */
export interface ScriptedNote {
  readonly quote: string;
  readonly text: string;
  readonly category: string;
  readonly about: string;
  readonly strength?: "hard" | "soft";
  readonly type?: string;
  readonly need?: string;
  readonly subject?: string;
}

export interface ScriptedTurn {
  readonly message: string;
  /** Calls of tools before the answer, one model call each. */
  readonly calls: readonly { readonly name: string; readonly arguments: Readonly<Record<string, unknown>> }[];
  readonly answer: string;
  /** What reading the message gives: quotes of it. */
  readonly notes: readonly ScriptedNote[];
}

function turn(message: string, answer: string, more: Partial<ScriptedTurn> = {}): ScriptedTurn {
  return { message, answer, calls: [], notes: [], ...more };
}

/** Finds more than one answer shows, whatever the programme holds. */
const SEARCH: ScriptedTurn["calls"] = [{ name: "search_events", arguments: { step_free: "first", limit: 5 } }];

/** An evening is planned, in 12 turns: 18 model calls where the model takes one for each tool call and one for each answer. */
export const EVENING: readonly ScriptedTurn[] = [
  turn(
    "Hello!",
    "Good evening. I can look up concerts, opera, theatre and tables for you, and book them. Tell me what you are in the mood for.",
  ),
  turn(
    "My wife and I would like a night out in London on Friday, something with jazz.",
    "I found three evenings with jazz on Friday. The Night Shift Trio plays in a cellar near Soho at eight; the Marta Vale Quartet has tables by the stage at nine; and there is a late set at ten. I would take the quartet: it is the quieter room, and you can eat there.",
    {
      calls: SEARCH,
      notes: [{ quote: "something with jazz", text: "Likes jazz", category: "genre", about: "jazz" }],
    },
  ),
  turn(
    "I should say that she uses a wheelchair.",
    "Thank you for telling me. I will keep to rooms with step-free access. Are stairs with a lift beside them all right for her?",
    {
      notes: [{ quote: "she uses a wheelchair", text: "Wife uses a wheelchair", category: "accessibility", about: "wheelchair" }],
    },
  ),
  turn("A lift is fine.", "Good. The quartet's room has a lift from the street and places for wheelchairs at the front tables.", {
    calls: SEARCH,
  }),
  turn(
    "What would two seats near the front cost us there?",
    "Two seats at a front table are 84 pounds together, with a drink each. The bar is 56 for two, but the stools are high.",
    {
      calls: SEARCH,
    },
  ),
  turn(
    "I'd rather not sit at the bar, we like to be able to talk.",
    "Then the front table it is. Shall I make a quote for two seats there?",
    {
      notes: [{ quote: "we like to be able to talk", text: "Likes to be able to talk", category: "other", about: "to talk" }],
    },
  ),
  turn(
    "Yes please.",
    "The quote stands: two seats at a front table for the Marta Vale Quartet on Friday at nine, 84 pounds, step-free from the street. Shall I book it?",
    {
      calls: SEARCH,
    },
  ),
  turn(
    "Book it.",
    "It is booked: two seats at a front table on Friday at nine. The reference is in the card below; please be there by half past eight.",
    {
      calls: [{ name: "list_bookings", arguments: {} }],
    },
  ),
  turn("Thanks!", "With pleasure. Enjoy the evening, both of you."),
  turn(
    "One more thing: is there an exhibition on Saturday that opens early?",
    "The print room opens at nine on Saturday, with an exhibition of woodcuts until noon. It is step-free throughout.",
    {
      calls: SEARCH,
    },
  ),
  turn("Lovely.", "I am glad. I will keep it in mind when you ask about Saturday again."),
  turn("Good night!", "Good night, and a fine Friday to you."),
];

const WISHES = ["a quiet concert", "an opera", "a play", "a table for two", "a late jazz set", "an exhibition", "a ballet", "a tasting"];
const DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

/** A guest who comes back again and again, in one session: two turns of three look something up, one in six is a word of thanks. */
export function longConversation(turns: number): readonly ScriptedTurn[] {
  return Array.from({ length: turns }, (_, n) => {
    const wish = WISHES[n % WISHES.length];
    const day = DAYS[n % DAYS.length];
    if (n % 6 === 5) return turn("Thank you!", "With pleasure. Let me know when there is something else.");
    const message = `For week ${n + 1}: could you find ${wish} on ${day} evening that is easy to reach from the station?`;
    const answer = `For week ${n + 1} I found two that fit on ${day}: one at seven, a short walk from the station, and one at half past eight, two stops further on. The first has better seats left; the second is a little cheaper and ends later.`;
    return turn(message, answer, n % 3 === 2 ? {} : { calls: SEARCH });
  });
}
