/** A document's id can't hold a `/`. `.:` stands for it and `.-` for a point, so that ids are in the order of what they are made of. */
export function documentId(key: string): string {
  return key.replace(/[./]/g, (character) => (character === "/" ? ".:" : ".-"));
}

export function nameOfDocument(id: string): string {
  return id.replace(/\.[:-]/g, (code) => (code === ".:" ? "/" : "."));
}
