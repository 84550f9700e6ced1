// Over 300 lines: forty turns, word by word.

import type { ScriptedTurn } from "./conversation.js";

type Note = ScriptedTurn["notes"][number];

function turn(message: string, answer: string, ...notes: readonly Note[]): ScriptedTurn {
  return { message, answer, calls: [], notes };
}

function looking(message: string, answer: string, ...notes: readonly Note[]): ScriptedTurn {
  return { message, answer, calls: [{ name: "search_events", arguments: { step_free: "first", limit: 5 } }], notes };
}

export function soft(quote: string, text: string, category: string, about: string): Note {
  return { quote, text, category, about };
}

export function hard(quote: string, text: string, category: string, about: string, more: Partial<Note>): Note {
  return { quote, text, category, about, strength: "hard", type: "constraint", ...more };
}

/**
 * Forty turns of one guest with the concierge: two evenings, a lunch and a weekend are planned. 54 model calls where the model takes one for
 * each tool call and one for each answer. Three things that must hold are said, and one is taken back; ten more that are worth a note, half
 * of them in passing; the rest is questions, orders, thanks and answers to what was offered.
 */
export const STORY: readonly ScriptedTurn[] = [
  turn(
    "Hello there!",
    "Good evening. I can look up concerts, opera, theatre and tables for you, and book them. Tell me what you are in the mood for.",
  ),
  looking(
    "We would like a night out in London on Friday, something with jazz.",
    "I found three evenings with jazz on Friday. The Night Shift Trio plays in a cellar near Soho at eight; the Marta Vale Quartet has tables by the stage at nine; and there is a late set at ten. I would take the quartet: it is the quieter room, and you can eat there.",
    soft("something with jazz", "Likes jazz", "genre", "jazz"),
  ),
  turn(
    "I should say that my wife uses a wheelchair.",
    "Thank you for telling me. I will keep to rooms with step-free access, and I will say so where a lift stands in for a ramp.",
    hard("my wife uses a wheelchair", "Wife uses a wheelchair", "accessibility", "wheelchair", {
      need: "step_free",
      subject: "companion:wife",
    }),
  ),
  looking(
    "Which of the three rooms is the easiest to get into?",
    "The quartet's room: there is a lift from the street, and the front tables have places beside them that are kept free. The cellar has nine steps and no lift.",
  ),
  looking(
    "What would two seats near the front cost us there?",
    "Two seats at a front table are 84 pounds together, with a drink each. The bar is 56 for two, but the stools are high.",
  ),
  turn(
    "I'd prefer a table, we like to be able to talk.",
    "Then the front table it is. Shall I make a quote for two seats there?",
    soft("we like to be able to talk", "Likes to be able to talk", "other", "to talk"),
  ),
  looking(
    "Yes please.",
    "The quote stands: two seats at a front table for the Marta Vale Quartet on Friday at nine, 84 pounds, step-free from the street. Shall I book it?",
  ),
  turn("Yes, please book it.", "It is booked: two seats at a front table on Friday at nine. Please be there by half past eight."),
  turn("Thanks!", "With pleasure. Enjoy the evening, both of you."),
  looking(
    "One more thing: is there an exhibition on Saturday that opens early?",
    "The print room opens at nine on Saturday, with an exhibition of woodcuts until noon. It is step-free throughout.",
  ),
  turn(
    "What is shown there, exactly?",
    "Woodcuts from the 1920s, mostly of harbours, some eighty sheets in four rooms. One room has the blocks themselves beside the prints.",
  ),
  turn(
    "Lovely, I like mornings best for that kind of thing.",
    "Then nine it is. Tickets are at the door, 12 pounds each; there is hardly ever a queue before ten.",
    soft("I like mornings best", "Prefers mornings for exhibitions", "schedule", "mornings"),
  ),
  turn(
    "And how long does one need for it?",
    "An hour is comfortable. The room with the blocks takes the longest, as one may handle some of them.",
  ),
  turn("Good to know.", "The café on the ground floor opens at nine as well, and it has tables by the garden."),
  looking(
    "Could you find us lunch nearby, for one o'clock?",
    "Two places are a few minutes away and step-free: the Copper Pan, a small kitchen with a changing menu, and Alder, which has a garden and a fixed lunch of three courses for 28 pounds.",
  ),
  turn(
    "I'm allergic to nuts, so do ask them.",
    "I will mind that in all that I look for. Alder marks nuts in its menu and can cook the fixed lunch without them; the Copper Pan says that it can't promise it.",
    hard("I'm allergic to nuts", "Is allergic to nuts", "dietary", "nuts", { need: "no_nuts" }),
  ),
  turn("Then Alder, for two at one o'clock.", "Alder has a table in the garden for two at one. Shall I make a quote for the fixed lunch?"),
  looking(
    "Yes, please do.",
    "The quote stands: two at Alder on Saturday at one, fixed lunch, 56 pounds, cooked without nuts. Shall I book it?",
  ),
  turn("Please book it.", "It is booked: a table in the garden for two on Saturday at one. They know about the nuts."),
  turn("Thank you!", "With pleasure. The walk from the print room takes four minutes, all of it level."),
  looking(
    "What is on at the opera next month?",
    "Three productions run next month: Tosca from the 4th, The Magic Flute from the 12th, and a new piece for six singers from the 20th. Tosca has the most seats left.",
  ),
  turn(
    "Is the new one any good?",
    "The reviews are kind: ninety minutes without an interval, a small orchestra, and two singers whom everybody praises. It is not a piece for humming along.",
  ),
  looking(
    "Let's see Tosca then. I usually sit on the aisle.",
    "For Tosca there are aisle seats in the stalls on the 4th, the 9th and the 15th, with a place for a wheelchair beside each of them.",
    soft("I usually sit on the aisle", "Usually sits on the aisle", "seating", "the aisle"),
  ),
  turn("What do they cost?", "The stalls are 92 pounds each on the 4th, 78 on the 9th and on the 15th."),
  turn(
    "The 9th would be better. Our daughter Mia turns eight that week, she would love it.",
    "Then the 9th. Mia would pay 39 pounds in the stalls, as under sixteens pay half. Shall I look for three seats together?",
    soft("Our daughter Mia", "Daughter's name is Mia", "companions", "Mia"),
  ),
  looking(
    "Yes, three together please.",
    "Row F has three at the end, one of them on the aisle, beside the place for a wheelchair: 195 pounds together. Shall I make a quote?",
  ),
  turn(
    "Yes please, make the quote.",
    "The quote stands: three seats in row F for Tosca on the 9th, 195 pounds. I can hold it until tomorrow evening.",
  ),
  turn("Great, thanks!", "With pleasure. I will say when the time for it runs out."),
  turn(
    "How long is Tosca, by the way?",
    "Two hours and three quarters with two intervals. The second act is the long one; Mia may want something to eat before it.",
  ),
  turn(
    "Is there something to eat in the house?",
    "There is a buffet on the first floor, which the lift reaches, and a bar with sandwiches in the foyer. Tables at the buffet can be ordered ahead.",
  ),
  looking(
    "Could you look for a hotel for that night?",
    "Two are within ten minutes and step-free: the Marlow, with family rooms at 210 pounds, and a small house on Rose Street with two rooms side by side for 190.",
  ),
  turn(
    "We always take the quieter place, so Rose Street.",
    "Rose Street is the quieter one: it lies behind a garden, and the two rooms look away from the road. Shall I make a quote for both?",
    soft("We always take the quieter place", "Always takes the quieter place", "location", "the quieter place"),
  ),
  looking(
    "Please do.",
    "The quote stands: two rooms on Rose Street for the night of the 9th, 190 pounds with breakfast. Breakfast is from seven to ten.",
  ),
  looking(
    "What is there for breakfast?",
    "Bread from their own oven, eggs, fruit and porridge, at the table. They ask the evening before.",
  ),
  turn(
    "Mia is vegetarian, by the way.",
    "I have that in mind for her from now on. Rose Street cooks a breakfast without meat for anybody who asks.",
    hard("Mia is vegetarian", "Mia is vegetarian", "dietary", "vegetarian", { need: "vegetarian", subject: "companion:Mia" }),
  ),
  turn("Very good.", "Then Friday, Saturday and the 9th are planned. Only the opera and the rooms wait for your word."),
  looking("Can you still get the opera seats?", "Yes: row F is held for you until tomorrow evening, 195 pounds for the three of them."),
  turn("Then let us take them.", "I can book row F for the three of you as the quote says. Shall I book it?"),
  turn("Yes, book it please.", "It is booked: three seats in row F for Tosca on the 9th at seven. The tickets are in the card below."),
  turn("Good night!", "Good night, and a fine Friday to you."),
];
