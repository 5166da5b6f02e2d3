import { RequestInvalidError } from '../port/errors.ts';
import { isStorable } from '../../rules/text.ts';

/** Base path of the operations. */
export const root = '/v1/convai';

/** Throws RequestInvalidError for an empty id, which would address the list, and for dots, which would address another resource. */
export function pathOf(method: string, collection: string, id: string): string {
  if (id === '' || id === '.' || id === '..' || !isStorable(id)) {
    const request = { method, path: `${root}/${collection}/{id}`, requestId: null };
    const what = id === '' ? 'empty' : isStorable(id) ? `"${id}"` : 'no text';
    throw new RequestInvalidError(request, [`the id in the path, which is ${what}`]);
  }
  return `${root}/${collection}/${encodeURIComponent(id)}`;
}
