import { testWeaves } from './weaves-suite.ts';

testWeaves('postgres', { every: 1301, seeds: 10 });
