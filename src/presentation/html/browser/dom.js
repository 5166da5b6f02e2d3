/** An element that is on the page for as long as it is open. */
export function byId(/** @type {string} */ id) {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`There is no #${id} on the page.`);
  return element;
}
