/** What a block of an event stream says. */
export interface SentBlock {
  /** Where to go on from after it; null: it does not say. */
  id: string | null;
  /** Null: no event, but an id or a sign of life. */
  data: string | null;
}

/** Reads an event stream, as far as the API writes it: `id`, `data`, and comments. A block that broke off is left out. */
export async function* readSentBlocks(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<SentBlock, void> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of chunks) {
    text += decoder.decode(chunk, { stream: true });
    const blocks = text.split('\n\n');
    text = blocks.pop() ?? '';
    for (const block of blocks) yield parseBlock(block);
  }
}

function parseBlock(block: string): SentBlock {
  const found: SentBlock = { id: null, data: null };
  for (const line of block.split('\n')) {
    const [, name, value = ''] = /^(id|data): ?(.*)$/.exec(line) ?? [];
    if (name === 'id') found.id = value;
    if (name === 'data') found.data = found.data === null ? value : `${found.data}\n${value}`;
  }
  return found;
}
