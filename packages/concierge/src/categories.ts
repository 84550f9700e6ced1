import { type Category, category } from "maitred/domain";

/** What a guest asks for, rather than how. */
const THINGS = ["eat", "breakfast", "sweet", "drink", "attend", "visit", "travel", "stay", "care"];

/** What a concierge remembers about a guest, and the occasions that it matters at. */
export const CONCIERGE_CATEGORIES: readonly Category[] = [
  category("genre", "kinds of music, theatre, film, sport or cuisine, liked or disliked", "preference", "soft", [], "the genre", {
    at: ["choose"],
    named: ["eat", "breakfast", "sweet", "drink"],
    alike: ["attend", "visit"],
    placed: true,
  }),
  category("artist", "performers, ensembles, teams, authors, chefs", "preference", "soft", [], "the name", {
    at: ["choose", "attend", "visit"],
    named: ["eat", "breakfast", "sweet", "drink"],
  }),
  category("venue", "particular halls, stadiums, restaurants, hotels", "preference", "soft", [], "the name", {
    at: ["choose"],
    named: ["eat", "breakfast", "sweet", "drink", "stay"],
    placed: true,
  }),
  category("seating", "where to sit", "preference", "soft", ["row", "position", "area", "table"], null, {
    at: ["place"],
    named: THINGS,
    placed: true,
  }),
  category("budget", "what it may cost", "preference", "soft", ["budget", "meal budget", "room budget", "ticket class"], null, {
    at: ["pay", "eat", "attend", "stay", "travel"],
    named: ["pay", ...THINGS],
    placed: true,
  }),
  category("party_size", "how many usually come", "preference", "soft", ["party size"], null, {
    at: ["choose", "eat", "attend", "stay", "travel"],
    named: THINGS,
    placed: true,
  }),
  category(
    "schedule",
    "days and times that suit or don't",
    "preference",
    "soft",
    ["days", "time of day", "start", "end"],
    "the day or time",
    { at: ["when", "eat", "attend"], named: ["eat", "breakfast", "sweet", "drink", "travel"], placed: true },
  ),
  category("location", "home, and where or how far to go", "fact", "soft", ["home", "area", "distance", "stay"], null, {
    named: ["eat", "breakfast", "stay", "travel"],
    placed: true,
    residence: "home",
  }),
  category(
    "dietary",
    "diets, allergies, intolerances, religious food rules",
    "constraint",
    "hard",
    ["diet", "religious diet"],
    "the substance",
    { at: ["eat", "sweet", "drink"], hard: ["stay", "visit", "care"] },
  ),
  category("accessibility", "what access, hearing, sight or mobility ask for", "constraint", "hard", [], "the need", {
    at: ["choose", "place", ...THINGS],
  }),
  category("companions", "who usually comes along", "fact", "soft", [], "the relation or name", {}),
  category("loyalty", "memberships, cards, subscriptions", "fact", "soft", [], "the programme", {
    at: ["pay"],
    named: ["stay", "travel"],
    alike: ["stay", "travel"],
    placed: true,
  }),
  category(
    "communication",
    "language, channel, form of address, style",
    "procedural",
    "soft",
    ["language", "channel", "name", "style", "notice"],
    null,
    { at: ["contact"], named: ["contact"] },
  ),
  category("other", "anything else of lasting use to a concierge", "fact", "soft", [], "what it is about", {
    named: ["place", "contact", "pay", ...THINGS],
    placed: true,
  }),
];
