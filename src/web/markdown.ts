import DOMPurify from "dompurify";
import { marked } from "marked";

// What Markdown makes.
const TAGS = "p br strong em del code pre blockquote ul ol li a h3 h4 h5 h6 hr table thead tbody tr th td span div".split(" ");

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

// Markup in an answer is shown, not used, and an image becomes a link to it: the sanitiser below is the second line, not the first.
marked.use({
  renderer: {
    html: ({ text }) => escaped(text),
    image: ({ href, text }) => `<a href="${escaped(href)}">${escaped(text || href)}</a>`,
    // The page has its own first two levels.
    heading({ tokens, depth }) {
      const level = Math.min(6, depth + 2);
      return `<h${level}>${this.parser.parseInline(tokens)}</h${level}>`;
    },
    checkbox: ({ checked }) => `<span class="box">${checked ? "☑" : "☐"}</span> `,
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
function markdown(text: string): DocumentFragment {
  const fragment = DOMPurify.sanitize(marked.parse(text, { gfm: true, breaks: true, async: false }), {
    ALLOWED_TAGS: TAGS,
    ALLOWED_ATTR: ["href", "title", "start", "class"],
    ALLOWED_URI_REGEXP: /^(?:https?:|mailto:)/i,
    ALLOW_DATA_ATTR: false,
    ALLOW_ARIA_ATTR: false,
    RETURN_DOM_FRAGMENT: true,
  });
  for (const node of fragment.querySelectorAll("[class]")) if (node.className !== "box") node.removeAttribute("class");
  for (const box of fragment.querySelectorAll("li:has(> .box), li:has(> p > .box)")) box.className = "task";
  // What is wider than the page is scrolled by itself, by keyboard too.
  for (const wide of fragment.querySelectorAll("table, pre")) {
    const frame = document.createElement("div");
    frame.className = "wide";
    frame.tabIndex = 0;
    frame.setAttribute("role", "group");
    frame.setAttribute("aria-label", wide.tagName === "PRE" ? "Code" : "Table");
    wide.replaceWith(frame);
    frame.append(wide);
  }
  for (const block of fragment.querySelectorAll<HTMLElement>("p, li, blockquote, h3, h4, h5, h6, td, th")) block.dir = "auto";
  return fragment;
}

/** Shows a text that grows: blocks that stay the same are left alone, and with them what is selected in them. */
export function showMarkdown(node: Element, text: string): void {
  const fresh = [...markdown(text).childNodes];
  const shown = [...node.childNodes];
  let same = 0;
  while (same < fresh.length && same < shown.length && shown[same]?.isEqualNode(fresh[same] ?? null)) same += 1;
  for (const old of shown.slice(same)) old.remove();
  node.append(...fresh.slice(same));
}
