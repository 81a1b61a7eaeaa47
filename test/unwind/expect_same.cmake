# Runs COMMAND (commas between its words), recorded, with libmallow_oracle.so (ORACLE) and compares every EVERYth capture.
# INPUT: file for its standard input. Fails if fewer than LEAST captures were compared or one differs.
string(REPLACE "," ";" command "${COMMAND}")
string(RANDOM LENGTH 12 name)
set(folder ${FOLDER}/oracle-${name})
file(MAKE_DIRECTORY ${folder}/recording)
if(NOT INPUT)
  set(INPUT /dev/null)
endif()
string(REPLACE ":" "%3A" recording "${folder}/recording")
execute_process(
  COMMAND ${CMAKE_COMMAND} -E env LD_PRELOAD=${ORACLE} MALLOW_ORACLE_EVERY=${EVERY} MALLOW_ORACLE_FILE=${folder}/result
    MALLOW_OPTIONS=record=${recording} PYTHONMALLOC=malloc ${command}
  INPUT_FILE ${INPUT} OUTPUT_QUIET ERROR_VARIABLE errors RESULT_VARIABLE status)
file(GLOB results ${folder}/result.*)
set(checked 0)
set(mismatches 0)
foreach(result ${results})
  file(READ ${result} line)
  if(line MATCHES "checked ([0-9]+) mismatches ([0-9]+)")
    math(EXPR checked "${checked} + ${CMAKE_MATCH_1}")
    math(EXPR mismatches "${mismatches} + ${CMAKE_MATCH_2}")
  endif()
endforeach()
file(REMOVE_RECURSE ${folder})
message("checked ${checked} mismatches ${mismatches}")
if(NOT status EQUAL 0 OR NOT mismatches EQUAL 0 OR checked LESS ${LEAST})
  message(FATAL_ERROR "exit status ${status}, at least ${LEAST} checks wanted\n${errors}")
endif()
