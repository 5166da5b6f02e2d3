import { RequestInvalidError } from '../port/errors.ts';
import { isStorable } from '../../rules/text.ts';

/** Where the operations are. */
export const root = '/v1/convai';

/** The path of one resource. An empty id would address the list instead, and dots another resource. */
export function pathOf(method: string, collection: string, id: string): string {
  if (id === '' || id === '.' || id === '..' || !isStorable(id)) {
    const request = { method, path: `${root}/${collection}/{id}`, requestId: null };
    const what = id === '' ? 'empty' : isStorable(id) ? `"${id}"` : 'no text';
    throw new RequestInvalidError(request, [`the id in the path, which is ${what}`]);
  }
  return `${root}/${collection}/${encodeURIComponent(id)}`;
}
