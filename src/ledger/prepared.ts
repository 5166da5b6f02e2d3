import type { Compilable, CompiledQuery, QueryResult } from 'kysely';
import { heldConnection } from './sqlite-dialect.ts';
import { isPostgres, type Queries } from './tx.ts';

/** Placeholder for a value that each run supplies. */
class Blank {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

const blanks = new Proxy({}, { get: (_, name) => new Blank(String(name)) });

/** Compiled once, since that takes longer than running it. `build` gets placeholders and cannot depend on values. */
export function prepared<Db extends Queries, Values extends object, Row>(
  build: (db: Db, values: Values) => Compilable<Row>,
): (db: Db, values: Values) => Promise<QueryResult<Row>> {
  const texts = new Map<boolean, CompiledQuery<Row>>();
  return async (db, values) => {
    const kind = isPostgres(db);
    const text = texts.get(kind) ?? build(db, blanks as Values).compile();
    texts.set(kind, text);
    const parameters = text.parameters.map((value) => (value instanceof Blank ? (values as Record<string, unknown>)[value.name] : value));
    const held = heldConnection(db);
    if (held === undefined) return db.getExecutor().executeQuery({ ...text, parameters });
    // The query builder's connection takes longer than the statement itself.
    const statement = held.prepare(text.sql);
    if (statement.reader) return { rows: statement.all(parameters) as Row[] };
    return { rows: [], numAffectedRows: BigInt(statement.run(parameters).changes) };
  };
}

/** As `prepared`, compiled once per shape. */
export function preparedByShape<Db extends Queries, Values extends object, Row>(
  build: (shape: string) => (db: Db, values: Values) => Compilable<Row>,
): (db: Db, shape: string, values: Values) => Promise<QueryResult<Row>> {
  const shapes = new Map<string, ReturnType<typeof prepared<Db, Values, Row>>>();
  return (db, shape, values) => {
    const run = shapes.get(shape) ?? prepared(build(shape));
    shapes.set(shape, run);
    return run(db, values);
  };
}
