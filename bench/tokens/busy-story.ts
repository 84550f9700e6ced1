// Over 300 lines: forty turns, word by word.

import type { ScriptedTurn } from "./conversation.js";
import { hard, soft } from "./story.js";

type Calls = ScriptedTurn["calls"];

function turn(message: string, answer: string, more: Partial<ScriptedTurn> = {}): ScriptedTurn {
  return { message, answer, calls: [], notes: [], ...more };
}

function search(input: Readonly<Record<string, unknown>>): Calls[number] {
  return { name: "search_events", arguments: input };
}

/**
 * Forty other turns, of a guest who comes with colleagues and asks for much: longer answers, and more calls of tools, two of them in many a
 * turn. Three things that must hold are said, seven more that are worth a note. 74 model calls where the model takes one for each tool call
 * and one for each answer.
 */
export const BUSY_STORY: readonly ScriptedTurn[] = [
  turn(
    "Good afternoon. I am in Lisbon with three colleagues until the weekend.",
    "Good afternoon, and welcome. For four I can look for concerts, plays, matches and tables, and I can see what is still to be had for each evening until then. Shall we begin with one of them?",
    { notes: [soft("with three colleagues", "Comes with three colleagues", "party_size", "three colleagues")] },
  ),
  turn(
    "What is there in the way of live music tonight?",
    "Two rooms have music tonight: a quartet on a veranda by the river at half past nine, with tables, and a band in the big hall at nine, standing. The veranda has eleven places left, the hall several hundred. For talking the veranda is much the better of the two.",
    { calls: [search({ kind: "music", city: "Lisbon", limit: 5 }), search({ kind: "music", genre: "jazz" })] },
  ),
  turn(
    "One of us, Joana, is coeliac, so no gluten for her please.",
    "Thank you, I will look for kitchens that cook without gluten for Joana, and I will say so where a house can't promise it.",
    { notes: [hard("Joana, is coeliac", "Joana is coeliac", "dietary", "coeliac", { need: "no_gluten", subject: "companion:Joana" })] },
  ),
  turn(
    "Could you look for dinner before it, within walking distance?",
    "Three tables for four are free at seven: a fish house two streets away, which marks gluten in its menu; a grill by the market, which can't promise it; and a small kitchen that changes its menu daily and asks for a call the day before. The fish house would suit you best.",
    {
      calls: [
        search({ kind: "dining", city: "Lisbon", party_size: 4 }),
        search({ kind: "dining", city: "Lisbon", genre: "seafood", party_size: 4 }),
      ],
    },
  ),
  turn(
    "How much is the fixed menu at the fish house?",
    "The fixed menu is 48 euros for each of you, with four courses; a shorter one with two is 31. Wine is not in it, and service is.",
    { calls: [search({ text: "supper", party_size: 4 })] },
  ),
  turn(
    "We usually go for the shorter menus at night.",
    "Then the two courses it is, 124 euros for the four of you. Shall I make a quote for seven o'clock?",
    { notes: [soft("We usually go for the shorter menus", "Usually takes shorter menus", "dietary", "shorter menus")] },
  ),
  turn(
    "Yes, do that please.",
    "The quote stands: four at the fish house at seven, two courses, 124 euros, without gluten for Joana. Shall I book it?",
    { calls: [search({ text: "supper", limit: 3 })] },
  ),
  turn(
    "Book it, please.",
    "It is booked: a table for four at seven. They know about Joana, and will show her which dishes are made apart.",
    { calls: [{ name: "list_bookings", arguments: {} }] },
  ),
  turn(
    "And the veranda?",
    "The quartet has eleven places left, 22 euros each. Four at one table are 88 euros; it is the table next to the door, as those by the rail are taken.",
    { calls: [search({ genre: "jazz", city: "Lisbon" }), search({ text: "veranda" })] },
  ),
  turn(
    "Great, and how late does it run?",
    "Until about half past eleven, with one break. The last tram leaves from the corner at ten to one.",
  ),
  turn(
    "I never stay out past midnight on weekdays.",
    "That fits: you would be back well before. Shall I make a quote for the four places?",
    {
      notes: [soft("I never stay out past midnight on weekdays", "Never stays out past midnight on weekdays", "schedule", "past midnight")],
    },
  ),
  turn("Please.", "The quote stands: four places at the table by the door, 88 euros, half past nine. Shall I book it?", {
    calls: [search({ genre: "jazz", limit: 2 })],
  }),
  turn(
    "Yes, book that too.",
    "It is booked as well: four places for the quartet at half past nine. Dinner at seven leaves you an hour for the walk and a coffee.",
    { calls: [{ name: "list_bookings", arguments: {} }] },
  ),
  turn("Super, thanks a lot!", "With pleasure. Have a fine evening, all four of you."),
  turn(
    "Now, what about a play tomorrow, preferably in English?",
    "Tomorrow there is one play with English surtitles, a comedy in two acts at eight, and a puppet play without words at six. The comedy is the longer one, two hours and ten minutes; of the puppets people say that grown-ups like them more than children do.",
    { calls: [search({ kind: "theatre", city: "Lisbon", limit: 4 }), search({ kind: "theatre", genre: "comedy" })] },
  ),
  turn(
    "My hearing aids need a loop in the hall.",
    "I will look for halls that have one from now on. The comedy's house has a loop in the stalls; the puppets' house has none.",
    { notes: [hard("My hearing aids need a loop", "Needs a hearing loop", "accessibility", "a loop", { need: "hearing_loop" })] },
  ),
  turn(
    "Which seats would you take there?",
    "Rows four to seven in the stalls: the loop is strongest there, and the surtitles are easy to read. Four together are left in row six, in the middle, at 34 euros each.",
    { calls: [search({ kind: "theatre", text: "comedy" }), search({ kind: "theatre", party_size: 4, limit: 3 })] },
  ),
  turn("Row six is fine for us.", "Then row six, four in the middle, 136 euros together. Shall I make the quote?", {
    calls: [search({ kind: "theatre", party_size: 4 })],
  }),
  turn("Yes.", "The quote stands: four seats in row six, the comedy tomorrow at eight, 136 euros, within the loop. Shall I book it?"),
  turn(
    "Go ahead.",
    "It is booked: four seats in row six tomorrow at eight. The doors open at half past seven, and the cloakroom is free.",
    { calls: [{ name: "list_bookings", arguments: {} }] },
  ),
  turn(
    "Is there a match on Saturday?",
    "There are two: basketball at noon, and football at a quarter past five, both in the city. The football is nearly sold out; for the basketball there are seats in all parts of the hall.",
    { calls: [search({ kind: "sport", city: "Lisbon", limit: 5 }), search({ kind: "sport", limit: 5 })] },
  ),
  turn(
    "I've followed Llevant for years, when do they play?",
    "Llevant play at noon on Sunday, at home in Barcelona, and at one on the Saturday after. Here in Lisbon they don't play before the new year.",
    { calls: [search({ text: "Llevant" })], notes: [soft("I've followed Llevant for years", "Follows Llevant", "artist", "Llevant")] },
  ),
  turn(
    "A pity. What would the football cost for two of us?",
    "Two seats behind the goal are 46 euros together; on the long side 90, and those are single seats one above the other. Joana and the others would have to be asked whether they mind the noise.",
    { calls: [search({ kind: "sport", genre: "football", party_size: 2 })] },
  ),
  turn("Leave it then.", "Very well, no football. Saturday is free until the evening, should something else come to mind."),
  turn(
    "Could you see if there's an exhibition or anything quiet for Saturday morning?",
    "I sell no exhibitions, but a tasting in a garden begins at eleven, for twelve guests, and a matinee for strings at half past eleven. The matinee is an hour long and has a loop.",
    { calls: [search({ kind: "music", genre: "classical" }), search({ kind: "dining", genre: "brunch" })] },
  ),
  turn(
    "Matinees are my favourite, mornings in general.",
    "Then the strings: an hour, in a hall with a loop, at 19 euros. Shall I look for four or for you alone?",
    { notes: [soft("Matinees are my favourite", "Likes matinees best", "schedule", "Matinees")] },
  ),
  turn(
    "Just me, the others sleep in.",
    "One seat, then. In row three there is a single one on the left, and in row eight there are several.",
    { calls: [search({ kind: "music", genre: "classical", party_size: 1 })] },
  ),
  turn(
    "Row three please, and make it a quote.",
    "The quote stands: one seat in row three, the matinee on Saturday at half past eleven, 19 euros. Shall I book it?",
    { calls: [search({ kind: "music", genre: "classical", limit: 2 })] },
  ),
  turn(
    "Yes, thank you.",
    "It is booked: row three, on the left, Saturday at half past eleven. Coffee is served in the court from eleven on.",
    { calls: [{ name: "list_bookings", arguments: {} }] },
  ),
  turn(
    "What have I booked so far, all in all?",
    "Four things: dinner for four tonight at seven, the quartet for four at half past nine, the comedy for four tomorrow at eight, and the matinee for you on Saturday. Together that is 367 euros.",
    { calls: [{ name: "list_bookings", arguments: {} }] },
  ),
  turn(
    "My budget for this trip is 500 euros.",
    "Then 133 euros are left. A dinner for four on Saturday with two courses would just fit into it.",
    { notes: [soft("My budget for this trip is 500 euros", "Budget for this trip is 500 euros", "budget", "500 euros")] },
  ),
  turn(
    "Let's look at Saturday dinner.",
    "Three kitchens have a table for four on Saturday: a grill with a terrace at 29 euros, one with vegetable dishes alone at 24, and a brasserie at 33. The second cooks everything without gluten if it is told before.",
    { calls: [search({ kind: "dining", city: "Lisbon", party_size: 4 }), search({ kind: "dining", genre: "vegetarian cuisine" })] },
  ),
  turn(
    "Pedro doesn't eat meat at all, so the second.",
    "Then both Pedro and Joana are well served there. Four are 96 euros; they have a table by the window at eight and one in the court at half past eight.",
    {
      calls: [search({ kind: "dining", genre: "vegetarian cuisine", party_size: 4 })],
      notes: [
        hard("Pedro doesn't eat meat at all", "Pedro eats no meat", "dietary", "meat", { need: "vegetarian", subject: "companion:Pedro" }),
      ],
    },
  ),
  turn("The court sounds nice.", "Then half past eight in the court. Shall I make a quote for four?"),
  turn(
    "Please do so.",
    "The quote stands: four in the court on Saturday at half past eight, 96 euros, without meat and without gluten. Shall I book it?",
    { calls: [search({ kind: "dining", genre: "vegetarian cuisine", limit: 2 })] },
  ),
  turn(
    "Yes, please go ahead and book.",
    "It is booked: four in the court on Saturday at half past eight. They know about Joana and Pedro.",
    { calls: [{ name: "list_bookings", arguments: {} }] },
  ),
  turn(
    "How far is it from the station?",
    "Nine minutes on foot, all of it level; with the tram two stops, and it leaves every ten minutes until one.",
  ),
  turn("I always take the tram.", "Good: line 28 from the station, two stops, and the house is across the street.", {
    notes: [soft("I always take the tram", "Always takes the tram", "location", "the tram")],
  }),
  turn(
    "What would you suggest for Sunday before my flight at five?",
    "A brunch by the river from ten to one would leave you time enough, or the puppet play at half past eleven, which is over by half past twelve. From both the tram takes you to the airport line.",
    { calls: [search({ kind: "dining", genre: "brunch" }), search({ kind: "theatre", genre: "puppetry" })] },
  ),
  turn("I'll think about it. Good night!", "Good night, and enjoy the comedy tomorrow."),
];
