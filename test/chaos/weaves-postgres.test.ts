import { testWeaves } from './weaves-suite.ts';

testWeaves('postgres', { every: 601, seeds: 10 });
