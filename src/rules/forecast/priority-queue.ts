/** Binary heap that returns the first item by `compare`. */
export class PriorityQueue<Item> {
  readonly #compare: (left: Item, right: Item) => number;
  readonly #items: Item[] = [];

  /** `compare`: negative when `left` comes first. */
  constructor(compare: (left: Item, right: Item) => number) {
    this.#compare = compare;
  }

  get size(): number {
    return this.#items.length;
  }

  peek(): Item | undefined {
    return this.#items[0];
  }

  push(item: Item): void {
    const items = this.#items;
    let place = items.push(item) - 1;
    while (place > 0) {
      const parent = (place - 1) >> 1;
      const above = items[parent] as Item;
      if (this.#compare(above, item) <= 0) break;
      items[place] = above;
      place = parent;
    }
    items[place] = item;
  }

  pop(): Item | undefined {
    const items = this.#items;
    const [first] = items;
    const last = items.pop();
    if (last === undefined || items.length === 0) return first;
    let place = 0;
    for (;;) {
      let child = 2 * place + 1;
      if (child >= items.length) break;
      const right = child + 1;
      if (right < items.length && this.#compare(items[right] as Item, items[child] as Item) < 0) child = right;
      if (this.#compare(items[child] as Item, last) >= 0) break;
      items[place] = items[child] as Item;
      place = child;
    }
    items[place] = last;
    return first;
  }
}
