/** What things are called: by the titles of the picture on the page, so that this client needs no words of a game. */

/**
 * The title of the element that stands for this value of an action's field. Without one, the name of the field says what the value is.
 * @param {{ field: string, value: string }} thing
 */
export function titleOf({ field, value }) {
  const element = document.querySelector(`svg [data-${CSS.escape(field)}="${CSS.escape(value)}"]`);
  const title = element?.querySelector(":scope > title")?.textContent;
  return title || `${field.replaceAll("_", " ")} ${value}`;
}
