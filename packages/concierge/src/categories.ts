import type { CategoryOccasions } from "maitred";
import { type Category, category } from "maitred/domain";
import occasionsOfCategories from "./data/category-occasions.json" with { type: "json" };

const occasions: Readonly<Record<string, CategoryOccasions>> = occasionsOfCategories;

/** What a concierge remembers about a guest. */
export const CONCIERGE_CATEGORIES: readonly Category[] = [
  category("genre", "kinds of music, theatre, film, sport or cuisine, liked or disliked", "preference", "soft", [], "the genre"),
  category("artist", "performers, ensembles, teams, authors, chefs", "preference", "soft", [], "the name"),
  category("venue", "particular halls, stadiums, restaurants, hotels", "preference", "soft", [], "the name"),
  category("seating", "where to sit", "preference", "soft", ["row", "position", "area", "table"]),
  category("budget", "what it may cost", "preference", "soft", ["budget", "meal budget", "room budget", "ticket class"]),
  category("party_size", "how many usually come", "preference", "soft", ["party size"]),
  category(
    "schedule",
    "days and times that suit or don't",
    "preference",
    "soft",
    ["days", "time of day", "start", "end"],
    "the day or time",
  ),
  category("location", "home, and where or how far to go", "fact", "soft", ["home", "area", "distance", "stay"]),
  category(
    "dietary",
    "diets, allergies, intolerances, religious food rules",
    "constraint",
    "hard",
    ["diet", "religious diet"],
    "the substance",
  ),
  category("accessibility", "what access, hearing, sight or mobility ask for", "constraint", "hard", [], "the need"),
  category("companions", "who usually comes along", "fact", "soft", [], "the relation or name"),
  category("loyalty", "memberships, cards, subscriptions", "fact", "soft", [], "the programme"),
  category("communication", "language, channel, form of address, style", "procedural", "soft", [
    "language",
    "channel",
    "name",
    "style",
    "notice",
  ]),
  category("other", "anything else of lasting use to a concierge", "fact", "soft", [], "what it is about"),
].map((each) => ({ ...each, ...(occasions[each.name] && { occasions: occasions[each.name] }) }));
