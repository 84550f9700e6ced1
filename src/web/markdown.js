import { marked } from "./marked.js";
import DOMPurify from "./purify.js";

const TAGS = [
  "p",
  "br",
  "strong",
  "em",
  "del",
  "code",
  "pre",
  "blockquote",
  "ul",
  "ol",
  "li",
  "a",
  "h1",
  "h2",
  "h3",
  "h4",
  "h5",
  "h6",
  "hr",
  "table",
  "thead",
  "tbody",
  "tr",
  "th",
  "td",
];

function escaped(text) {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

// Markup in an answer is shown, not used, and an image becomes a link to it: the sanitiser below is the second line, not the first.
marked.use({
  renderer: {
    html: ({ text }) => escaped(text),
    image: ({ href, text }) => `<a href="${escaped(href)}">${escaped(text || href)}</a>`,
  },
});

DOMPurify.addHook("afterSanitizeAttributes", (node) => {
  if (node.tagName !== "A") return;
  node.setAttribute("target", "_blank");
  node.setAttribute("rel", "noopener noreferrer nofollow");
});

/**
 * Markdown as a fragment that can do nothing: no script, no style, no image (its address could carry words away), web and mail links
 * only.
 */
export function markdown(text) {
  return DOMPurify.sanitize(marked.parse(text, { gfm: true, breaks: true, async: false }), {
    ALLOWED_TAGS: TAGS,
    ALLOWED_ATTR: ["href", "title", "start"],
    ALLOWED_URI_REGEXP: /^(?:https?:|mailto:)/i,
    ALLOW_DATA_ATTR: false,
    ALLOW_ARIA_ATTR: false,
    RETURN_DOM_FRAGMENT: true,
  });
}
