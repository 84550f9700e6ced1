/** What a name says that nothing else says: `no_nuts` is a thing that must not be. */
export function kindByName(name: string): "avoid" | "be" {
  return name.startsWith("no_") ? "avoid" : "be";
}

/** A need's name, or a category's, as a person reads it: "No nuts" for `no_nuts`. */
export function readableName(name: string): string {
  const text = name.replaceAll("_", " ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}
