import type { Api } from '../../../../src/interfaces/api/core/app.ts';
import { files } from '../../../../src/interfaces/console/views/all.ts';

/** What the page answers beside documents: the stream of changes, files, and that nothing is there. */
const noDocuments: ReadonlySet<string> = new Set([
  '/changes',
  '/*',
  '/new/:draft/campaign.yaml',
  '/new/:draft/list-file',
  ...files.map(({ path }) => path),
]);

/** Every address at which the page shows a document, as the router knows them: `/campaigns/:campaign/rows`. */
export function documentsOf(app: Api): string[] {
  return routesOf(app.printRoutes({ commonPrefix: false, method: 'GET' })).filter(
    (path) => !/^\/(api|_page)\//.test(path) && !noDocuments.has(path),
  );
}

/** The router prints its tree: each line adds to the address of the line above it that is less deep. */
function routesOf(tree: string): string[] {
  const above: string[] = [];
  return tree.split('\n').flatMap((line) => {
    const [, indent, part = ''] = /^(.*)[├└]── (\S+)( \(GET\))/.exec(line) ?? [];
    if (indent === undefined) return [];
    const depth = indent.length / 4;
    above.splice(depth, Infinity, part);
    return [above.join('')];
  });
}
