create table t(a integer primary key, b text, c int);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 20000)
  insert into t select i, 'row ' || i, i * 7 % 1000 from n;
create index ix on t(c);
select count(*), sum(length(b)) from t where c between 100 and 500;
select c, count(*) from t group by c order by 2 desc limit 3;
update t set b = b || 'x' where a % 3 = 0;
select max(b) from t;
