# cmake -DBUILD=... -DCONSUMER=... -DWORK=... -DCOMPILER=... -P headers_test.cmake
# The headers alone, installed and used where none of the libraries is that the rest needs.
include(${CMAKE_CURRENT_LIST_DIR}/must.cmake)

file(REMOVE_RECURSE ${WORK})
must(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix --component headers)
must(${CMAKE_COMMAND} -S ${CONSUMER} -B ${WORK}/build -DCMAKE_PREFIX_PATH=${WORK}/prefix
     -DCMAKE_CXX_COMPILER=${COMPILER} "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Werror")
must(${CMAKE_COMMAND} --build ${WORK}/build)
must(${WORK}/build/headers_consumer)
