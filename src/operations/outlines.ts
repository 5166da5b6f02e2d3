import { operations, type OperationId } from './list.ts';
import { outlinesOf, type Operation } from './operation.ts';

/** Written out by `build.mjs`, so that client and `carillon --help` load no schemas. */
export const outlines: Readonly<Record<OperationId, Pick<Operation, 'kind' | 'route' | 'says'>>> = outlinesOf(operations);
