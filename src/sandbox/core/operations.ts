import { factsOf, type Dialect } from './dialects.ts';
import { routes, type RouteFacts } from './routes.ts';

export { routes };
export type RouteName = keyof typeof routes;
type Named<Facts> = { [Name in RouteName]: (typeof routes)[Name] extends Facts ? Name : never }[RouteName];
export type OperationName = Named<{ number: number }>;
/** Names that faults use for routes. */
export type FaultableName = Exclude<RouteName, Named<{ unfaulted: true }> | Named<{ countsAs: string }>>;

const table: Readonly<Record<RouteName, RouteFacts>> = routes;
const routeNames = Object.keys(routes) as RouteName[];

export const operationNames = routeNames.filter((name): name is OperationName => table[name].number !== undefined);

export const faultableNames = routeNames.filter((name): name is FaultableName => faultNameOf(name) === name);

export function operationByNumber(number: number): OperationName | undefined {
  return operationNames.find((name) => routes[name].number === number);
}

/** The contract operation of a route; null for routes beyond it. */
export function operationOf(name: RouteName): OperationName | null {
  const { countsAs, number } = table[name];
  return countsAs ?? (number === undefined ? null : (name as OperationName));
}

export function faultNameOf(name: RouteName): FaultableName | null {
  const { countsAs, unfaulted } = table[name];
  return countsAs ?? (unfaulted === true ? null : (name as FaultableName));
}

/** Field with the list of a route's answer; null for no list. */
export function listOf(name: FaultableName): string | null {
  return table[name].list ?? null;
}

export interface ServedRoute extends RouteFacts {
  name: RouteName;
  pattern: RegExp;
  /** Answers in the published API's style. */
  published: boolean;
  isAlias: boolean;
}

function servedIn(dialect: Dialect): ServedRoute[] {
  const facts = factsOf({ dialect });
  return routeNames.flatMap((name) => {
    const route = table[name];
    if (route.part !== undefined && !facts[route.part]) return [];
    const paths = route.alias === undefined || !facts.further ? [route.path] : [route.path, route.alias];
    return paths.map((path) => ({
      ...route,
      name,
      path,
      pattern: new RegExp(`^${path.replaceAll(/:\w+/g, '[^/]+')}$`),
      published: !facts.contract || route.part === 'further',
      isAlias: path === route.alias,
    }));
  });
}

const served = { spec: servedIn('spec'), extended: servedIn('extended'), published: servedIn('published') };

/** Routes of a dialect, including aliases. */
export function routesOf(dialect: Dialect): readonly ServedRoute[] {
  return served[dialect];
}

/** Methods of a path in this dialect; empty for an unknown path. */
export function allowedMethods(pathname: string, dialect: Dialect): string[] {
  // Without batches, `batch-calls` is no number id either, so another method would not help.
  if (pathname === routes.batch_calls.path && !factsOf({ dialect }).contract) return [];
  const matching = served[dialect].filter(({ pattern }) => pattern.test(pathname));
  // Fixed paths win over parameters: `DELETE …/batch-calls` is not the number with id `batch-calls`.
  const fixed = matching.filter(({ path }) => path === pathname);
  return [...new Set((fixed.length > 0 ? fixed : matching).map(({ method }) => method))];
}
