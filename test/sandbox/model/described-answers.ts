import type { OperationName } from '../../../src/sandbox/core/operations.ts';
import type { Dialect } from '../../../src/sandbox/core/dialects.ts';
import { closed, createValidator, documentOf, follow, operationsOf, type Schema } from '../openapi/checks.ts';

/** What the OpenAPI document does not describe in an answer; null: nothing. */
export type AnswerCheck = (operation: OperationName, status: number, body: unknown) => string | null;

const checks = new Map<Dialect, AnswerCheck>();

/** Compiles each schema once; served fields without a description are misfits. */
export function describedAnswers(dialect: Dialect): AnswerCheck {
  const check = checks.get(dialect) ?? createCheck(dialect);
  checks.set(dialect, check);
  return check;
}

function createCheck(dialect: Dialect): AnswerCheck {
  const document = closed(documentOf(dialect));
  const compile = createValidator(document);
  const byId = new Map(operationsOf(document).map(({ operation }) => [operation['operationId'], operation]));
  const compiled = new Map<string, ReturnType<typeof compile>>();
  return (operation, status, body) => {
    const raw = follow(byId.get(operation), `#/responses/${status}`) as { $ref?: string } | undefined;
    const described = (raw?.$ref === undefined ? raw : follow(document, raw.$ref)) as Schema | undefined;
    if (described === undefined) return `${operation} ${status}: not described; got ${JSON.stringify(body)}`;
    const ref = follow(described, '#/content/application~1json/schema/$ref') as string | undefined;
    if (ref === undefined) return body === undefined ? null : `${operation} ${status}: has a body`;
    const fits = compiled.get(ref) ?? compile(ref);
    compiled.set(ref, fits);
    if (fits(body)) return null;
    const [error] = fits.errors ?? [];
    return `${operation} ${status} ${error?.instancePath}: ${error?.message} ${JSON.stringify(error?.params)}`;
  };
}
